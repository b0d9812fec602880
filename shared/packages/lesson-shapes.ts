import { z } from 'zod';
import { fieldsByTypeShape } from './field-shapes.ts';
import { boundedText, lessonTitle, maxUrlLength, partTitle } from './text-shapes.ts';

/** The shapes of lesson.json, one for each level; lesson-json.ts checks level by level. */

/** Identifiers have no invisible characters, so that different ones look different. */
export const identifier = z
  .string()
  .min(1, 'must not be empty')
  .max(255, 'must be at most 255 characters')
  .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u, 'must not contain control characters');

export const languageTag = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/;

export const lessonFileShape = z.looseObject({ lesson: z.unknown(), sections: z.array(z.unknown()) });

export const metaShape = z.looseObject({
  id: z.guid('must be a UUID').nullish().meta({ description: 'By default lessonId of manifest.json' }),
  slug: z.string().nullish().meta({ description: 'For file names; by default made from the title' }),
  title: lessonTitle,
  status: boundedText(100).nullish(),
  language: z
    .string()
    .max(35, 'must be a language tag such as en or pt-BR')
    .regex(languageTag, 'must be a language tag such as en or pt-BR')
    .nullish()
    .meta({ description: 'A language tag such as en or pt-BR' }),
  estimatedDuration: z
    .number()
    .nonnegative('must be a number of minutes, 0 or more')
    .nullish()
    .meta({ description: 'Minutes' }),
  inlineTex: z
    .boolean()
    .nullish()
    .meta({ description: 'False if texts have no TeX between delimiters such as $…$' }),
  cover: z
    .looseObject({
      image: boundedText(maxUrlLength).nullish(),
      imageAlt: boundedText(1000).nullish(),
      text: boundedText(2000).nullish(),
      objectives: z.array(boundedText(500)).max(20, 'must have at most 20 entries').nullish(),
    })
    .nullish()
    .meta({ description: 'The page before the first step' }),
  variable_definitions: z.array(z.unknown()).nullish(),
  widget_settings: z
    .looseObject({
      overrides: z.looseObject({}).nullish(),
      /** Import copies them from manifest.json. */
      fields: fieldsByTypeShape.optional(),
    })
    .nullish(),
});

export const variableShape = z.looseObject({
  name: z.string().min(1, 'must not be empty').max(255, 'must be at most 255 characters'),
  type: z.string().min(1, 'must not be empty').max(255, 'must be at most 255 characters'),
});

/** Lists give an order, and generated-ids.ts ids, to sections, steps and blocks without them. */
export const sectionShape = z.looseObject({
  id: identifier.nullish(),
  title: partTitle,
  order_index: z.number().nullish(),
  steps: z.array(z.unknown()),
});

export const stepShape = z.looseObject({
  id: identifier.nullish(),
  title: partTitle,
  order_index: z.number().nullish(),
  content: z.looseObject({
    content: z.array(z.unknown()),
    root: z.looseObject({}).nullish(),
    zones: z.looseObject({}).nullish(),
  }),
});

/** A block without a type is unfinished, which is not a fault. */
export const blockShape = z.looseObject({
  type: boundedText(255).nullish(),
  props: z.looseObject({ id: identifier.nullish() }),
});
