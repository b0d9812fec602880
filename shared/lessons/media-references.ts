import { lessonBlocks, typeOf } from './blocks.ts';
import { assertJsonDepth, isContainer, recordOf } from './json-values.ts';
import type { LessonContent } from './lesson-content.ts';

/**
 * References to media: strings `media:<uuid>`, alone or inside longer strings, anywhere in a lesson. In an archive
 * they are paths `./media/<uuid>.<ext>`. Object keys are names, not references.
 *
 * The functions accept any JSON value and throw INVALID_CONTENT when it is nested too deep.
 */

const uuid = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';

const reference = new RegExp(`media:(${uuid})`, 'g');

/** An extension ends where a reference begins, so that restoring twice changes nothing (idempotency). */
const extensionCharacters = `(?:(?!media:${uuid})[A-Za-z0-9]){1,8}`;

const referenceOrPath = new RegExp(`media:(${uuid})|\\./media/(${uuid})\\.(${extensionCharacters})`, 'g');

const unusualPath = new RegExp(`\\./media/(${uuid})(\\.[\\w-]+)?`, 'g');

const wholeReference = new RegExp(`^(?:media:|\\./media/)${uuid}(?:[.#].*)?$`);

/** Returns whether a text is a reference by id, or its path in an archive. */
export function isMediaId(text: string): boolean {
  return wholeReference.test(text);
}

/** Returns the ids of the media that a lesson refers to: lower case, each once, sorted. */
export function mediaReferences(content: unknown): string[] {
  assertJsonDepth(content);
  const ids = new Set<string>();
  const pending = [content];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') {
      for (const [, id = ''] of value.matchAll(reference)) ids.add(id.toLowerCase());
    } else if (isContainer(value)) {
      for (const child of Object.values(value) as unknown[]) pending.push(child);
    }
  }
  return [...ids].sort();
}

/** Files of custom widgets up to this size are part of an archive's page. The widgets' frames cannot read a folder. */
export const maxInlineBytes = 2_000_000;

/** Returns the ids of the media in the props of widgets of these types: lower case, each once, sorted. */
export function mediaOfTypes(content: LessonContent, isListed: (type: string) => boolean): string[] {
  const ids = new Set<string>();
  for (const { block } of lessonBlocks(content)) {
    if (!isListed(typeOf(block) ?? '')) continue;
    for (const id of mediaReferences(block.props)) ids.add(id);
  }
  return [...ids].sort();
}

/** Where a step refers to a media file: a block, or null for what is outside of blocks. */
export interface MediaPlace {
  mediaId: string;
  block: { id: string; type: string } | null;
}

/** Yields the places where a step refers to media, in reading order, with the innermost block. */
export function* mediaPlaces(content: unknown): Generator<MediaPlace> {
  assertJsonDepth(content);
  const pending: { value: unknown; block: MediaPlace['block'] }[] = [{ value: content, block: null }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, block } = next;
    if (typeof value === 'string') {
      for (const [, id = ''] of value.matchAll(reference)) yield { mediaId: id.toLowerCase(), block };
    } else if (isContainer(value)) {
      const { type, props } = recordOf(value);
      const { id } = recordOf(props);
      const inner = typeof type === 'string' && typeof id === 'string' ? { id, type } : block;
      for (const child of Object.values(value).reverse() as unknown[])
        pending.push({ value: child, block: inner });
    }
  }
}

/**
 * Replaces each `media:<uuid>`, for example with `./media/<uuid>.jpg` for an archive. Returns a copy that shares the
 * parts without references with the original.
 *
 * @param replacementOf gets the id in lower case
 */
export function rewriteMediaReferences<T>(content: T, replacementOf: (id: string) => string): T {
  assertJsonDepth(content);
  return mapStrings(content, (text) =>
    text.replace(reference, (_match, id: string) => replacementOf(id.toLowerCase())),
  ) as T;
}

/**
 * Returns a copy in which each `./media/<uuid>.<ext>` is `media:<uuid>` again, and every id is in lower case, as an
 * import stores it. Restoring the output of {@link rewriteMediaReferences} returns its restored input, for any content,
 * provided that `extensionOf` knows the written extensions.
 *
 * @param extensionOf returns the extension of a media file, without the dot, if it is known. It decides where a
 *   path ends when a letter or digit follows. Otherwise up to 8 of them count as the extension.
 */
export function restoreMediaReferences<T>(
  content: T,
  extensionOf: (id: string) => string | undefined = () => undefined,
): T {
  assertJsonDepth(content);
  const restored = (match: string, id?: string, idInPath?: string, extension?: string): string => {
    if (idInPath === undefined || extension === undefined) return `media:${(id ?? match).toLowerCase()}`;
    const known = extensionOf(idInPath.toLowerCase());
    const rest = known !== undefined && extension.startsWith(known) ? extension.slice(known.length) : '';
    return `media:${idInPath.toLowerCase()}${rest}`;
  };
  return mapStrings(content, (text) => text.replace(referenceOrPath, restored)) as T;
}

/**
 * Returns a copy in which paths of media with unusual file names are references: names without an extension, or with
 * one that archives do not use.
 *
 * @param ids the ids of these media by file name: `<uuid>` or `<uuid>.<extension>`
 */
export function restoreUnusualPaths<T>(content: T, ids: ReadonlyMap<string, string>): T {
  if (ids.size === 0) return content;
  assertJsonDepth(content);
  const restored = (match: string, name: string, extension = ''): string => {
    const whole = ids.get(`${name}${extension}`.toLowerCase());
    if (whole !== undefined) return `media:${whole}`;
    const bare = ids.get(name.toLowerCase());
    return bare === undefined ? match : `media:${bare}${extension}`;
  };
  return mapStrings(content, (text) => text.replace(unusualPath, restored)) as T;
}

/** Maps every string value of a JSON value; copies only the parts that change. */
function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const elements = (value as unknown[]).map((element) => mapStrings(element, map));
    return elements.every((element, index) => element === value[index]) ? value : elements;
  }
  const entries = Object.entries(value).map(
    ([key, member]) => [key, member, mapStrings(member, map)] as const,
  );
  if (entries.every(([, before, after]) => before === after)) return value;
  // Assignment would treat a key `__proto__` as the prototype.
  return Object.fromEntries(entries.map(([key, , after]) => [key, after]));
}
