import { assertJsonDepth, isContainer } from './json-values.ts';

/**
 * References to media: strings `media:<uuid>`, alone or inside longer strings, anywhere in a lesson. In an archive
 * they are paths `./media/<uuid>.<ext>`. Keys of objects are names, not references, and stay as they are.
 *
 * All functions here take any JSON and throw INVALID_CONTENT when it is nested too deep.
 */

const uuid = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';

const reference = new RegExp(`media:(${uuid})`, 'g');

/** An extension stops where a reference begins, else restoring what is restored already would change it again. */
const extensionCharacters = `(?:(?!media:${uuid})[A-Za-z0-9]){1,8}`;

const referenceOrPath = new RegExp(`media:(${uuid})|\\./media/(${uuid})\\.(${extensionCharacters})`, 'g');

const unusualPath = new RegExp(`\\./media/(${uuid})(\\.[\\w-]+)?`, 'g');

/** The ids of the media that a lesson refers to: lower case, each once, sorted. */
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

/**
 * The export direction: a copy in which each `media:<uuid>` is what `replacementOf` makes of its id (lower case),
 * such as `./media/<uuid>.jpg`. Parts without references are shared with the original.
 */
export function rewriteMediaReferences<T>(content: T, replacementOf: (id: string) => string): T {
  assertJsonDepth(content);
  return mapStrings(content, (text) =>
    text.replace(reference, (_match, id: string) => replacementOf(id.toLowerCase())),
  ) as T;
}

/**
 * The import direction: a copy in which each `./media/<uuid>.<ext>` is `media:<uuid>` again, and every id is in
 * lower case. Restoring what {@link rewriteMediaReferences} wrote gives back what was restored before, for any
 * content, as long as `extensionOf` knows what was written.
 *
 * @param extensionOf the extension of a medium's file, without the dot, where it is known. It tells where a path
 *   ends that is followed by a letter or digit; else up to 8 of them are taken for the extension.
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
 * A copy in which paths of media whose extension is missing, or no extension that an archive may have, are references.
 *
 * @param ids of these media, by what stands in their paths behind `./media/`: `<uuid>` or `<uuid>.<extension>`.
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

/** A copy of some JSON with every string value mapped; what does not change is not copied. */
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
  // Not by assignment: a key `__proto__` has to become a property like any other.
  return Object.fromEntries(entries.map(([key, , after]) => [key, after]));
}
