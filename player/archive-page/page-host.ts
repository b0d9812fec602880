/** The properties of `window.lectern`; callbacks.js and docs/player.md describe them to integrators. */
interface Callbacks {
  /** The learner's last event, or null for a new learner. If undefined, the browser stores the progress. */
  state?: unknown;
  onReady?(event: unknown): void;
  onStepChange?(event: unknown): void;
  onAnswer?(event: unknown): void;
  onComplete?(event: unknown): void;
  onError?(error: unknown): void;
}

declare global {
  interface Window {
    lectern?: Callbacks;
  }
}

const callbackNames = {
  ready: 'onReady',
  step: 'onStepChange',
  answer: 'onAnswer',
  complete: 'onComplete',
  error: 'onError',
} as const;

/** Connects the lesson with the integrator's code on the page. */
export interface PageHost {
  state: unknown;
  /**
   * Calls the callback and dispatches a DOM event `lectern:<kind>`. Errors in a callback are reported to the browser,
   * and the lesson continues.
   */
  report(kind: keyof typeof callbackNames, detail: object): void;
}

/** @param element dispatches the events, which bubble */
export function pageHost(element: HTMLElement): PageHost {
  return {
    state: window.lectern?.state,
    report(kind, detail) {
      try {
        // The page may set its callbacks after the lesson has started.
        window.lectern?.[callbackNames[kind]]?.(detail);
      } catch (error) {
        reportError(error);
      }
      element.dispatchEvent(new CustomEvent(`lectern:${kind}`, { detail, bubbles: true }));
    },
  };
}
