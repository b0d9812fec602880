import { z } from 'zod';
import type { Fields } from '../lessons/widget-fields.ts';
import { boundedText } from './text-shapes.ts';

/** The shape of the fields that the manifest of a package publishes for a custom widget. */

const maxFieldsCharacters = 32_768;
const maxFields = 100;
const maxChoices = 100;
/** Levels of lists and objects. */
const maxLevels = 4;

const texts = {
  label: boundedText(200),
  help: boundedText(1_000).optional(),
  default: z.union([boundedText(1_000), z.number(), z.boolean()]).optional(),
  group: z.enum(['options', 'scoring', 'feedback']).optional(),
  required: z.boolean().optional(),
};

const bound = z.number().optional();
const choice = z.object({ value: z.union([boundedText(200), z.number()]), label: boundedText(200) });

const simpleFields = [
  z.object({ ...texts, kind: z.literal('text') }),
  z.object({
    ...texts,
    ...{ kind: z.literal('number'), min: bound, max: bound, isWhole: z.boolean().optional() },
  }),
  z.object({ ...texts, kind: z.literal('choice'), choices: z.array(choice).min(1).max(maxChoices) }),
  z.object({ ...texts, kind: z.literal('texts') }),
  z.object({ ...texts, kind: z.literal(['boolean', 'html', 'image', 'video', 'audio', 'captions']) }),
  z.object({ ...texts, kind: z.literal('blocks'), inColumns: z.boolean().optional() }),
] as const;

function fieldsShape(levels: number): z.ZodType<Fields> {
  const error = 'must be a known kind of field';
  const field =
    levels === 1
      ? z.discriminatedUnion('kind', simpleFields, { error })
      : z.discriminatedUnion(
          'kind',
          [
            ...simpleFields,
            z.object({ ...texts, kind: z.literal(['list', 'object']), fields: fieldsShape(levels - 1) }),
          ],
          { error },
        );
  return z
    .record(z.string().min(1).max(100), field)
    .refine((fields) => Object.keys(fields).length <= maxFields, `must have at most ${maxFields} fields`);
}

/** JSON without a member `__proto__`, which zod skips but would be read later. */
const plainJson = z.unknown().refine((value) => !JSON.stringify(value).includes('"__proto__":'), {
  error: 'must have no field named __proto__',
  abort: true,
});

/** The fields of a custom widget: at most 32,768 characters of JSON, so that its levels cannot multiply. */
export const widgetFieldsShape = plainJson
  .refine((fields) => JSON.stringify(fields).length <= maxFieldsCharacters, {
    error: `must have at most ${maxFieldsCharacters} characters of JSON`,
    abort: true,
  })
  .pipe(fieldsShape(maxLevels));

/** The fields of custom widgets in a lesson, by type. */
export const fieldsByTypeShape = plainJson.pipe(z.record(z.string(), widgetFieldsShape));
