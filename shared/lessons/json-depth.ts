import { LecternError } from '../platform/errors.ts';
import { isContainer } from './json-values.ts';

/** How many arrays and objects may stand inside each other, in a lesson as in anything else that is JSON. */
export const maxJsonDepth = 200;

/** The failure of every walk over content that is nested too deep. */
export function tooDeep(): LecternError {
  return new LecternError('INVALID_CONTENT', `The content is nested deeper than ${maxJsonDepth} levels`);
}

/**
 * Throws INVALID_CONTENT when a JSON value is nested deeper than `maxJsonDepth`. It goes level by level, without
 * recursion, so that recursive code may follow it: no depth makes either overflow the stack.
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
