/** The place that the learner sees: a step, or the end after the last one. */
interface Place {
  stepId: string;
  atEnd: boolean;
}

/** Gives each step an entry in the browser's history, and a URL. */
export interface StepHistory {
  /** Records the place in the history: at first in the current entry, afterward in a new one. */
  show(this: void, place: Place): void;
  /** Records the place in the current entry, after the lesson was mounted again. */
  replace(this: void, place: Place): void;
}

/** Defines how a page writes steps into the fragment of its URL. */
interface Fragments {
  of(stepId: string): string;
  /** Undefined for a fragment without a step. */
  read(fragment: string): string | undefined;
}

/** The fragments of links to a step of a hosted lesson. */
export const stepFragments: Fragments = {
  of: (stepId) => `#${new URLSearchParams({ step: stepId }).toString()}`,
  read: (fragment) => new URLSearchParams(fragment.slice(1)).get('step') ?? undefined,
};

/** Returns the step that the URL names when the page loads; undefined if the learner has reloaded the end. */
export function linkedStep(fragments: Fragments): string | undefined {
  return isAtEnd(history.state) ? undefined : fragments.read(location.hash);
}

/** Returns the block that the URL of a hosted lesson names in its step. */
export function linkedBlock(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get('block') ?? undefined;
}

/** Returns whether the entry with this state in the browser's history is the end of the lesson. */
function isAtEnd(state: unknown): boolean {
  return (state as { lecternAtEnd?: unknown } | null)?.lecternAtEnd === true;
}

/**
 * @param go called when the learner goes back or forward, or changes the URL; null for the end
 */
export function stepHistory(fragments: Fragments, go: (stepId: string | null) => void): StepHistory {
  let shown: Place | undefined;
  // The player scrolls to the top of each step.
  history.scrollRestoration = 'manual';

  function write(place: Place, isNew: boolean): void {
    const state = { ...(history.state as object | null), lecternAtEnd: place.atEnd };
    const url = location.pathname + location.search + fragments.of(place.stepId);
    shown = place;
    try {
      if (isNew) history.pushState(state, '', url);
      else history.replaceState(state, '', url);
    } catch {
      // Browsers limit how often a page may change its history.
    }
  }

  addEventListener('popstate', ({ state }) => {
    const stepId = fragments.read(location.hash);
    if (stepId === undefined || shown === undefined) return;
    const atEnd = isAtEnd(state);
    if (shown.stepId === stepId && shown.atEnd === atEnd) return;
    shown = { stepId, atEnd };
    go(atEnd ? null : stepId);
  });

  return {
    show(place) {
      if (shown?.stepId !== place.stepId || shown.atEnd !== place.atEnd) write(place, shown !== undefined);
    },
    replace: (place) => write(place, false),
  };
}

/**
 * Returns the title of a page that plays a lesson. It names what the learner sees, for screen readers, tabs and the
 * browser's history.
 *
 * @param heading as in `onHeading`; the cover has the lesson's title as its heading
 */
export function pageTitle(heading: string, lessonTitle: string): string {
  return heading === '' || heading === lessonTitle ? lessonTitle : `${heading} – ${lessonTitle}`;
}
