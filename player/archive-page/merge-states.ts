import type { AnswerItem, LessonState, ProgressData } from '../lesson/state.ts';

/** A learner's state as the browser keeps it. */
export interface KeptState extends LessonState {
  /** 1 at first, raised by each restart. */
  attempt: number;
}

/** Reads a state that was kept, by an older release too; undefined for anything else. */
export function readKeptState(value: unknown): KeptState | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { attempt, items, variableState, progressData, ...place } = value as Partial<KeptState>;
  if (!Array.isArray(items) || !items.every((item) => typeof (item as unknown) === 'object' && item)) {
    return undefined;
  }
  const { visited, tries, completed, atEnd } = (progressData ?? {}) as Partial<ProgressData>;
  return {
    ...(place as LessonState),
    attempt: Number.isSafeInteger(attempt) ? (attempt as number) : 1,
    items,
    variableState: { ...variableState },
    progressData: {
      visited: Array.isArray(visited) ? visited : [],
      tries: Array.isArray(tries) ? tries : [],
      completed: completed === true,
      atEnd: atEnd === true,
    },
  };
}

/**
 * One tab's state with what another tab has kept. Of two answers to one question the later one counts. A later attempt
 * leaves nothing of an earlier one.
 *
 * @param base what `mine` was made on: variables that are the same there are no news
 */
export function mergedStates(
  mine: KeptState,
  theirs: KeptState | undefined,
  base: KeptState | undefined,
): KeptState {
  if (theirs === undefined || theirs.attempt < mine.attempt) return mine;
  if (theirs.attempt > mine.attempt) return theirs;
  const { visited, tries, completed, atEnd } = mine.progressData;
  const news = Object.entries(mine.variableState).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(base?.variableState[name]),
  );
  return {
    ...mine,
    items: mergedBy(theirs.items, mine.items, keyOf, isLater),
    variableState: { ...mine.variableState, ...theirs.variableState, ...Object.fromEntries(news) },
    progressData: {
      visited: [...new Set([...theirs.progressData.visited, ...visited])],
      tries: mergedBy(theirs.progressData.tries, tries, keyOf, (a, b) => a.tries > b.tries),
      completed: completed || theirs.progressData.completed,
      atEnd,
    },
  };
}

/** Whether a learner sees the same in both, wherever they are in the lesson. */
export function isSameProgress(a: KeptState, b: KeptState): boolean {
  const parts = ({ attempt, items, variableState }: KeptState) => [
    attempt,
    items.toSorted((x, y) => (keyOf(x) < keyOf(y) ? -1 : 1)),
    Object.entries(variableState).sort(([x], [y]) => (x < y ? -1 : 1)),
  ];
  return JSON.stringify(parts(a)) === JSON.stringify(parts(b));
}

function keyOf({ stepId, widgetId }: { stepId: string; widgetId: string }): string {
  return `${stepId}\n${widgetId}`;
}

/** Of two at the same moment either may win, as long as all tabs choose the same. */
function isLater(a: AnswerItem, b: AnswerItem): boolean {
  const [at, other] = [Date.parse(a.answeredAt) || 0, Date.parse(b.answeredAt) || 0];
  return at === other ? JSON.stringify(a) > JSON.stringify(b) : at > other;
}

/** The elements of both lists, in their order; of two with one key the one that wins. */
function mergedBy<T>(
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
