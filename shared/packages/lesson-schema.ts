import { z } from 'zod';
import { maxDeclaredPoints } from '../lessons/block-props.ts';
import { coreWidgetFields, foreignProp } from '../lessons/core-widget-fields.ts';
import type { commonProps } from '../lessons/core-widget-fields.ts';
import { coreWidgetTypes } from '../lessons/core-widgets.ts';
import { percentage } from '../lessons/scoring/numeric.ts';
import { describeValue, memberFields } from '../lessons/widget-fields.ts';
import type { Field, Fields } from '../lessons/widget-fields.ts';
import {
  identifier,
  lessonFileShape,
  metaShape,
  sectionShape,
  stepShape,
  variableShape,
} from './lesson-shapes.ts';

type JsonSchema = Record<string, unknown>;

/**
 * Returns the JSON Schema (2020-12) of lesson.json, with which editors complete, explain and check it. It is stricter
 * than import: a block needs the props without which its widget makes no sense, and has no unknown ones.
 */
export function lessonSchema(): JsonSchema {
  const blocks = z.array(reference('block'));
  const content = stepShape.shape.content.extend({
    content: blocks,
    zones: z.record(z.string(), blocks).nullish(),
  });
  const sections = z.array(sectionShape.extend({ steps: z.array(stepShape.extend({ content })) }));
  const overrides = z.looseObject(
    Object.fromEntries(coreWidgetTypes.map((type) => [type, reference(type).optional()])),
  );
  const lesson = metaShape.extend({
    variable_definitions: z.array(variableShape).nullish(),
    widget_settings: z
      .looseObject({ overrides: overrides.nullish() })
      .nullish()
      .meta({ description: 'overrides has default props by widget type' }),
  });
  return {
    title: 'A lesson of Lectern: lesson.json of a package',
    ...z.toJSONSchema(lessonFileShape.extend({ $schema: z.string().optional(), lesson, sections }), {
      io: 'input',
    }),
    $defs: {
      block: blockSchema(),
      ...Object.fromEntries(
        coreWidgetTypes.map((type) => [
          type,
          { ...membersSchema(coreWidgetFields[type], common), patternProperties },
        ]),
      ),
    },
  };
}

/** Names of props that any editor may add. */
const patternProperties = { [foreignProp.source]: {} };

const id = { ...z.toJSONSchema(identifier), $schema: undefined };

/** The props that every block may have. */
const common: Record<(typeof commonProps)[number], JsonSchema> = {
  id: { title: 'Id', description: 'Names the block in answers; import adds a missing one', ...id },
  visibleIf: {
    title: 'Visible if',
    description: 'The player shows the block while the condition holds',
    type: 'object',
    properties: {
      variable: { type: 'string' },
      op: { enum: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] },
      value: {},
    },
  },
  variable: { title: 'Variable', description: 'Each answer is stored in it', type: 'string' },
};

function reference(name: string): z.ZodType {
  return z.unknown().meta({ $ref: `#/$defs/${name}` });
}

/** A block of a core widget has the props of its type, any other block those that its widget reads. */
function blockSchema(): JsonSchema {
  const ofType = (types: JsonSchema) => ({ properties: { type: types }, required: ['type'] });
  const points = { type: 'number', minimum: 0, maximum: maxDeclaredPoints };
  return {
    type: 'object',
    properties: {
      type: {
        description: 'The widget: one of Lectern’s, or a custom one',
        anyOf: [{ enum: coreWidgetTypes }, { type: 'string', minLength: 1, maxLength: 255 }],
      },
      props: { type: 'object', properties: { id } },
    },
    required: ['type', 'props'],
    allOf: [
      ...coreWidgetTypes.map((type) => ({
        if: ofType({ const: type }),
        then: { properties: { props: { $ref: `#/$defs/${type}`, ...needed(coreWidgetFields[type]) } } },
      })),
      {
        if: ofType({ enum: coreWidgetTypes }),
        else: { properties: { props: { properties: { points } } } },
      },
    ],
  };
}

/** Returns what requires the fields without which an object makes no sense. */
function needed(fields: Fields): JsonSchema {
  const entries = Object.entries(fields);
  const namesOf = (required: Field['required']) =>
    entries.flatMap(([name, field]) => (field.required === required ? [name] : []));
  const substitutes = entries.flatMap(([name, { insteadOf }]) => (insteadOf ? [[insteadOf, name]] : []));
  const replaced = substitutes.map(([name]) => name);
  const unscored = { properties: { points: { const: 0 } }, required: ['points'] };
  const ifScored = namesOf('ifScored');
  return {
    required: namesOf(true).filter((name) => !replaced.includes(name)),
    ...(substitutes.length > 0 && { anyOf: substitutes.flat().map((name) => ({ required: [name] })) }),
    ...(ifScored.length > 0 && { if: unscored, else: { required: ifScored } }),
  };
}

function membersSchema(fields: Fields, others: Record<string, JsonSchema> = {}): JsonSchema {
  const properties = Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]);
  return {
    type: 'object',
    properties: { ...others, ...(Object.fromEntries(properties) as JsonSchema) },
    patternProperties,
    additionalProperties: false,
  };
}

function fieldSchema(field: Field): JsonSchema {
  const { label, help } = field;
  return {
    title: label,
    description: [describeValue(field), help].filter((text) => text !== undefined && text !== '').join('; '),
    ...(field.default !== undefined && { default: field.default }),
    ...valueSchema(field),
  };
}

function valueSchema(field: Field): JsonSchema {
  const text = { type: 'string' };
  const textOrNumber = { type: ['string', 'number'] };
  const members = memberFields(field);
  const object = members && { ...membersSchema(members), ...needed(members) };
  switch (field.kind) {
    case 'text':
      return field.isId ? textOrNumber : text;
    case 'number': {
      const { isWhole, min: minimum, max: maximum, allowsPercentage } = field;
      const number = { type: isWhole ? 'integer' : 'number', minimum, maximum };
      return allowsPercentage ? { anyOf: [number, { ...text, pattern: percentage.source }] } : number;
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { enum: field.choices.map(({ value }) => value) };
    case 'texts': {
      const { areIds, maxItems, maxLength } = field;
      return { type: 'array', maxItems, items: areIds ? textOrNumber : { ...text, maxLength } };
    }
    case 'blocks': {
      const blocks = { type: 'array', items: { $ref: '#/$defs/block' } };
      return field.inColumns ? { type: 'array', items: blocks } : blocks;
    }
    case 'list':
      return { type: 'array', items: object };
    case 'object':
      return { ...object };
    case 'captions':
      return { anyOf: [text, { type: 'array', items: { anyOf: [text, object] } }] };
    case 'html':
    case 'image':
    case 'video':
    case 'audio':
      return text;
  }
}
