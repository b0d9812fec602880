import { LecternError } from '../platform/errors.ts';

/** Whether a JSON value is an array or an object. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a JSON value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}

/** Returns a value if it is an object, else an empty one. */
export function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Returns a value if it is an array, else an empty one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Quotes foreign text for a message: in double quotes, cut at `maxLength` characters. Escapes characters that could
 * control a terminal (control and format characters, lone surrogates).
 */
export function quote(text: string, maxLength = 80): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return JSON.stringify(cut).replace(unprintable, (character) => {
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Levels of arrays and objects in any JSON that Lectern reads. */
export const maxJsonDepth = 200;

export function tooDeep(): LecternError {
  return new LecternError('INVALID_CONTENT', `The content is nested deeper than ${maxJsonDepth} levels`);
}

/**
 * Checks that recursive code may process a JSON value. The check itself goes level by level, so that no depth
 * overflows the stack.
 *
 * @throws {LecternError} INVALID_CONTENT for a value that is nested deeper than `maxJsonDepth`
 */
export function assertJsonDepth(value: unknown): void {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxJsonDepth) throw tooDeep();
    const next: object[] = [];
    for (const container of level) {
      for (const child of Object.values(container)) if (isContainer(child)) next.push(child);
    }
    level = next;
  }
}
