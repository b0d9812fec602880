import type { LessonState } from '../lesson/state.ts';
import { isSameProgress, mergeStates, readStoredState } from './merge-states.ts';
import type { StoredState } from './merge-states.ts';

/** Stores progress from one visit to the next. */
export interface StoredProgress {
  /** Returns the stored progress; undefined if there is none, or if it is unreadable. */
  read(): unknown;
  save(state: LessonState): void;
  /** Begins another attempt, so that answers of the last one do not return from other tabs. */
  restart(state: LessonState): void;
}

/** Stores nothing, because the integrator's site stores the progress. */
export const noProgress: StoredProgress = {
  read: () => undefined,
  save: () => undefined,
  restart: () => undefined,
};

/** Returns the key of a lesson's progress. Lessons opened from folders may share one storage. */
export function progressKey(lessonId: string, versionId: string): string {
  return `lectern:archive:${lessonId}:${versionId}`;
}

/**
 * Stores progress in localStorage, which all tabs with the lesson share, and merges their answers: the later of two
 * answers counts. Without storage, or when it is full, the lesson plays without stored progress.
 *
 * @param on.failed called once if the browser cannot store progress
 * @param on.changed called when another tab has changed answers or variables, or has restarted
 */
export function browserProgress(
  key: string,
  on: { failed(this: void, cause: unknown): void; changed(this: void, isRestart: boolean): void },
): StoredProgress {
  let hasFailed = false;
  /** This tab's state, merged with those of other tabs. */
  let own: StoredState | undefined;

  function load(): unknown {
    try {
      const text = localStorage.getItem(key);
      return text === null ? undefined : (JSON.parse(text) as unknown);
    } catch {
      return undefined;
    }
  }

  function store(state: StoredState): void {
    own = state;
    try {
      localStorage.setItem(key, JSON.stringify(state));
    } catch (cause) {
      if (!hasFailed) on.failed(cause);
      hasFailed = true;
    }
  }

  function save(state: LessonState, attempt: number): void {
    const { sectionIndex, stepIndex, stepId, items, variableState, progressData } = state;
    const mine = { sectionIndex, stepIndex, stepId, items, variableState, progressData, attempt };
    store(mergeStates(mine, readStoredState(load()), own));
  }

  addEventListener('storage', (event) => {
    if (event.key !== key) return;
    const theirs = readStoredState(load());
    if (theirs === undefined) return;
    const before = own;
    const merged = before ? { ...mergeStates(before, theirs, before), ...positionOf(theirs) } : theirs;
    // Two tabs may have stored their states at the same time.
    if (isSameProgress(merged, theirs)) own = theirs;
    else store(merged);
    if (before === undefined || !isSameProgress(before, merged)) {
      on.changed(merged.attempt !== (before?.attempt ?? 1));
    }
  });

  return {
    read() {
      const state = load();
      own = readStoredState(state);
      return state;
    },
    save: (state) => save(state, own?.attempt ?? 1),
    restart: (state) => save(state, (own?.attempt ?? 1) + 1),
  };
}

function positionOf({ sectionIndex, stepIndex, stepId }: LessonState) {
  return { sectionIndex, stepIndex, stepId };
}
