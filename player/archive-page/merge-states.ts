import type { AnswerItem, LessonState } from '../lesson/state.ts';

/** A learner's state in the browser's storage. */
export interface StoredState extends LessonState {
  /** 1 at first; each restart increments it. */
  attempt: number;
}

/** Reads a stored state; undefined for anything else. */
export function readStoredState(value: unknown): StoredState | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { attempt, items, variableState, progressData } = value as Partial<StoredState>;
  const { visited, tries } = { ...progressData };
  const areObjects =
    Array.isArray(items) && items.every((item) => typeof (item as unknown) === 'object' && item);
  const isComplete = areObjects && Array.isArray(visited) && Array.isArray(tries);
  if (!isComplete || !Number.isSafeInteger(attempt) || !variableState) return undefined;
  return value as StoredState;
}

/**
 * Merges the states of two tabs: the later of two answers to a question counts. Drops everything from earlier attempts.
 *
 * @param base the state that `mine` builds on; variables that equal it have not been set here
 */
export function mergeStates(
  mine: StoredState,
  theirs: StoredState | undefined,
  base: StoredState | undefined,
): StoredState {
  if (theirs === undefined || theirs.attempt < mine.attempt) return mine;
  if (theirs.attempt > mine.attempt) return theirs;
  const { visited, tries, completed, atEnd } = mine.progressData;
  const changed = Object.entries(mine.variableState).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(base?.variableState[name]),
  );
  return {
    ...mine,
    items: mergeBy(theirs.items, mine.items, keyOf, isLater),
    variableState: { ...mine.variableState, ...theirs.variableState, ...Object.fromEntries(changed) },
    progressData: {
      visited: [...new Set([...theirs.progressData.visited, ...visited])],
      tries: mergeBy(theirs.progressData.tries, tries, keyOf, (a, b) => a.tries > b.tries),
      completed: completed || theirs.progressData.completed,
      atEnd,
    },
  };
}

/** Returns whether two states are equal apart from the position. */
export function isSameProgress(a: StoredState, b: StoredState): boolean {
  const parts = ({ attempt, items, variableState }: StoredState) => [
    attempt,
    [...items].sort((x, y) => (keyOf(x) < keyOf(y) ? -1 : 1)),
    Object.entries(variableState).sort(([x], [y]) => (x < y ? -1 : 1)),
  ];
  return JSON.stringify(parts(a)) === JSON.stringify(parts(b));
}

function keyOf({ stepId, widgetId }: { stepId: string; widgetId: string }): string {
  return `${stepId}\n${widgetId}`;
}

/** Compares the times of answers. Equal times need an order on which all tabs agree. */
function isLater(a: AnswerItem, b: AnswerItem): boolean {
  const [at, other] = [Date.parse(a.answeredAt) || 0, Date.parse(b.answeredAt) || 0];
  return at === other ? JSON.stringify(a) > JSON.stringify(b) : at > other;
}

/** Merges two lists in their order. Of two elements with one key, the winner remains. */
function mergeBy<T>(
  first: readonly T[],
  second: readonly T[],
  key: (element: T) => string,
  wins: (a: T, b: T) => boolean,
): T[] {
  const merged = new Map(first.map((element) => [key(element), element]));
  for (const element of second) {
    const before = merged.get(key(element));
    if (before === undefined || wins(element, before)) merged.set(key(element), element);
  }
  return [...merged.values()];
}
