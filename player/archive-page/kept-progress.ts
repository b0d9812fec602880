import type { LessonState } from '../lesson/state.ts';
import { isSameProgress, mergedStates, readKeptState } from './merge-states.ts';
import type { KeptState } from './merge-states.ts';

/** Where progress is kept from one visit to the next. */
export interface KeptProgress {
  /** What was kept last; undefined when nothing was, or when it cannot be read. */
  read(): unknown;
  keep(state: LessonState): void;
  /** The learner has cleared all answers: those of other tabs do not come back either. */
  restart(state: LessonState): void;
}

/** Nothing is kept: the integrator's site does that itself. */
export const noProgress: KeptProgress = {
  read: () => undefined,
  keep: () => undefined,
  restart: () => undefined,
};

/** Lessons opened from folders share one storage in some browsers, so the name has to tell them apart. */
export function progressKey(lessonId: string, versionId: string): string {
  return `lectern:archive:${lessonId}:${versionId}`;
}

/**
 * Progress in the browser's localStorage, which all tabs with the lesson share: answers of other tabs are kept too, and
 * of two answers to one question the later one. The lesson is played without it where there is none, or no room.
 *
 * @param on.failed told once when progress cannot be kept
 * @param on.changed another tab has other answers or variables by now, or has cleared them
 */
export function browserProgress(
  key: string,
  on: { failed(this: void, cause: unknown): void; changed(this: void, isRestart: boolean): void },
): KeptProgress {
  let hasFailed = false;
  /** As this tab has it, with what it knows of other tabs. */
  let own: KeptState | undefined;

  function stored(): unknown {
    try {
      const text = localStorage.getItem(key);
      return text === null ? undefined : (JSON.parse(text) as unknown);
    } catch {
      return undefined;
    }
  }

  function store(state: KeptState): void {
    own = state;
    try {
      localStorage.setItem(key, JSON.stringify(state));
    } catch (cause) {
      if (!hasFailed) on.failed(cause);
      hasFailed = true;
    }
  }

  function keep(state: LessonState, attempt: number): void {
    const { sectionIndex, stepIndex, stepId, items, variableState, progressData } = state;
    const mine = { sectionIndex, stepIndex, stepId, items, variableState, progressData, attempt };
    store(mergedStates(mine, readKeptState(stored()), own));
  }

  addEventListener('storage', (event) => {
    if (event.key !== key) return;
    const theirs = readKeptState(stored());
    if (theirs === undefined) return;
    const before = own;
    const merged = before ? { ...mergedStates(before, theirs, before), ...placeOf(theirs) } : theirs;
    // Two tabs may have written at once.
    if (isSameProgress(merged, theirs)) own = theirs;
    else store(merged);
    if (before === undefined || !isSameProgress(before, merged)) {
      on.changed(merged.attempt !== (before?.attempt ?? 1));
    }
  });

  return {
    read() {
      const state = stored();
      own = readKeptState(state);
      return state;
    },
    keep: (state) => keep(state, own?.attempt ?? 1),
    restart: (state) => keep(state, (own?.attempt ?? 1) + 1),
  };
}

function placeOf({ sectionIndex, stepIndex, stepId }: LessonState) {
  return { sectionIndex, stepIndex, stepId };
}
