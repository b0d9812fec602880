/** What `window.lectern` may hold; callbacks.js and docs/player.md tell it to integrators. */
interface Callbacks {
  /** An event that was stored earlier, or null: where the learner is. Undefined leaves it to the browser. */
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

/** The integrator's side of the page. */
export interface PageHost {
  state: unknown;
  /** Calls the callback, and dispatches a DOM event `lectern:<kind>`. What either throws harms nothing. */
  tell(kind: keyof typeof callbackNames, detail: object): void;
}

/** @param element where events are dispatched; they bubble. */
export function pageHost(element: HTMLElement): PageHost {
  return {
    state: window.lectern?.state,
    tell(kind, detail) {
      try {
        // Looked up at each call: a page may set its callbacks after the lesson has begun.
        window.lectern?.[callbackNames[kind]]?.(detail);
      } catch (error) {
        reportError(error);
      }
      element.dispatchEvent(new CustomEvent(`lectern:${kind}`, { detail, bubbles: true }));
    },
  };
}
