import type { LessonState } from '../lesson/state.ts';

/** Where progress is kept from one visit to the next. */
export interface KeptProgress {
  /** What was kept last; undefined when nothing was, or when it cannot be read. */
  read(): unknown;
  keep(state: LessonState): void;
}

/** Nothing is kept: the integrator's site does that itself. */
export const noProgress: KeptProgress = { read: () => undefined, keep: () => undefined };

/** Lessons opened from folders share one storage in some browsers, so the name has to tell them apart. */
export function progressKey(lessonId: string, versionId: string): string {
  return `lectern:archive:${lessonId}:${versionId}`;
}

/**
 * Progress in the browser's localStorage. The lesson is played without it where there is none, or no room.
 *
 * @param failed told once when progress cannot be kept
 */
export function browserProgress(key: string, failed: (cause: unknown) => void): KeptProgress {
  let hasFailed = false;
  return {
    read() {
      try {
        const text = localStorage.getItem(key);
        return text === null ? undefined : (JSON.parse(text) as unknown);
      } catch {
        return undefined;
      }
    },
    keep({ sectionIndex, stepIndex, stepId, items, variableState, progressData }) {
      const state: LessonState = { sectionIndex, stepIndex, stepId, items, variableState, progressData };
      try {
        localStorage.setItem(key, JSON.stringify(state));
      } catch (cause) {
        if (!hasFailed) failed(cause);
        hasFailed = true;
      }
    },
  };
}
