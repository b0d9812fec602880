import { parseDocument } from 'yaml';
import { z } from 'zod';
import { isRecord } from '../../lessons/json-values.ts';
import type { LessonMeta } from '../../lessons/lesson-content.ts';
import type { Attribution } from '../../lessons/player-lesson.ts';
import { nearestName } from '../../platform/unknown-names.ts';

/** A credit: a text, or its parts. */
const credit = z.union([
  z.string().transform(creditOf),
  z
    .strictObject({
      text: z.string().default(''),
      url: z.string().default(''),
      portfolioUrl: z.string().default(''),
    })
    .transform((attribution): Attribution => attribution),
]);

const schema = z.object({
  title: z.coerce.string().optional(),
  id: z.guid('must be a UUID').toLowerCase().optional(),
  slug: z.string().optional(),
  language: z.string().optional(),
  description: z.string().optional(),
  status: z.string().optional(),
  estimatedDuration: z.number('must be a number of minutes').optional(),
  inlineTex: z.boolean('must be true or false').optional(),
  cover: z.looseObject({ image: z.string().optional() }, 'must be a mapping').optional(),
  variables: z.array(z.looseObject({ name: z.string(), type: z.string() })).optional(),
  settings: z.looseObject({}).optional(),
  /** One credit for all files, or credits by path. */
  credits: z.union([credit, z.record(z.string(), z.union([credit, z.array(credit)]))]).optional(),
});

export type FrontMatter = z.output<typeof schema>;

/**
 * Reads front matter, with a fault for each field that is unknown or wrong.
 *
 * @param fault gets a line within the front matter, from 1
 */
export function readFrontMatter(yaml: string, fault: (line: number, text: string) => void): FrontMatter {
  const document = parseDocument(yaml, { prettyErrors: true });
  for (const { message, linePos } of document.errors) {
    fault(linePos?.[0].line ?? 1, `front matter is not YAML: ${message.split('\n')[0] ?? ''}`);
  }
  if (document.errors.length > 0) return {};
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 10 }) ?? {};
  } catch {
    fault(1, 'front matter repeats parts of itself (aliases) too often');
    return {};
  }
  if (!isRecord(value)) {
    fault(1, 'front matter must have fields, such as "title: How Tides Work"');
    return {};
  }
  const lineOf = (key: string) => {
    const line = yaml.split('\n').findIndex((one) => one.startsWith(`${key}:`));
    return line === -1 ? 1 : line + 1;
  };
  const known = Object.keys(schema.shape);
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const nearest = nearestName(key, known, () => 2);
    fault(
      lineOf(key),
      `front matter has no field ${key}${nearest === null ? '' : `; did you mean ${nearest}?`}`,
    );
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues) {
    fault(lineOf(String(path[0])), `${path.join('.')}: ${message}`);
  }
  return {};
}

/** Divides a credit such as "Photo by Ada, CC BY 4.0, https://example.org/photo" at its URL. */
function creditOf(text: string): Attribution {
  const url = /https?:\/\/[^\s,;]+$/.exec(text.trim())?.[0] ?? '';
  return {
    text: text
      .trim()
      .slice(0, text.trim().length - url.length)
      .replace(/[\s,;]+$/, ''),
    url,
    portfolioUrl: '',
  };
}

/** Returns the credits of a file by its path. */
export function creditsOf(credits: FrontMatter['credits'], path: string): Attribution[] {
  if (credits === undefined) return [];
  if (isAttribution(credits)) return [credits];
  const found = Object.hasOwn(credits, path) ? credits[path] : undefined;
  if (found === undefined) return [];
  return Array.isArray(found) ? found : [found];
}

function isAttribution(value: object): value is Attribution {
  return 'portfolioUrl' in value && typeof value.portfolioUrl === 'string';
}

/** Returns the fields of lesson.json that front matter sets. */
export function metaOf(front: FrontMatter, fallbackTitle: string): Partial<LessonMeta> & { title: string } {
  const { title = fallbackTitle, slug, language, description, status, estimatedDuration, inlineTex } = front;
  const cover =
    front.cover === undefined && description === undefined
      ? undefined
      : { ...(description !== undefined && { text: description }), ...front.cover };
  return {
    title,
    ...(slug !== undefined && { slug }),
    ...(language !== undefined && { language }),
    ...(status !== undefined && { status }),
    ...(estimatedDuration !== undefined && { estimatedDuration }),
    ...(inlineTex !== undefined && { inlineTex }),
    ...(cover !== undefined && { cover }),
    ...(front.variables !== undefined && { variable_definitions: front.variables }),
    ...(front.settings !== undefined && { widget_settings: { overrides: front.settings } }),
  };
}
