import type { JsonObject } from './session-record.ts';

/** Events for the host page, which frames this one (docs/embed.md). */
export interface HostEvent extends JsonObject {
  type: 'ready' | 'resize' | 'step' | 'complete' | 'error' | 'token.expiring';
}

/** Requests of the host page. */
export type HostRequest =
  | { type: 'hello' }
  | { type: 'setToken'; token: string }
  /** The host has no token yet, and retries. */
  | { type: 'tokenDelayed' }
  | Viewport
  | { type: 'goTo'; stepId: string };

/** What learners see of the host page, in CSS pixels. */
export interface Viewport {
  type: 'viewport';
  /** The height of the window, or of its part below a fixed header. */
  height: number;
  /** The part of this frame that is on the screen, from the frame's top. Missing if the host does not know. */
  part?: { top: number; bottom: number };
}

/** The connection to the host page. */
export interface HostLink {
  /** Sends an event once the host has sent its hello, which reveals its origin. */
  send(this: void, event: HostEvent): void;
}

const maxTokenChars = 16 * 1024;
const maxQueuedEvents = 50;

/**
 * Connects to the host page, if there is one. Both sides check the other's origin.
 *
 * @param allowedOrigins null for any
 */
export function openHost(
  allowedOrigins: readonly string[] | null,
  onRequest: (request: Exclude<HostRequest, { type: 'hello' }>) => void,
): HostLink {
  if (parent === window) return { send: () => undefined };
  let origin: string | undefined;
  let queued: HostEvent[] = [];

  function send(event: HostEvent): void {
    if (origin !== undefined) parent.postMessage({ source: 'lectern', v: 1, ...event }, origin);
    // Only the last height matters.
    else
      queued = [...queued.filter(({ type }) => type !== 'resize' || event.type !== 'resize'), event].slice(
        -maxQueuedEvents,
      );
  }

  addEventListener('message', (event: MessageEvent<unknown>) => {
    if (event.source !== parent || event.origin === 'null') return;
    if (allowedOrigins !== null && !allowedOrigins.includes(event.origin)) return;
    const request = readHostRequest(event.data);
    if (request === undefined) return;
    // The host page may change, but not its origin.
    origin ??= event.origin;
    if (origin !== event.origin) return;
    for (const early of queued.splice(0)) send(early);
    if (request.type !== 'hello') onRequest(request);
  });
  // Announces this page without any data; the response reveals the host's origin.
  parent.postMessage({ source: 'lectern', v: 1, type: 'hello' }, '*');
  return { send };
}

/** Sends the lesson's height to a learning platform. The message may go to any origin, because it holds nothing else. */
export function sendHeightToPlatform(height: number): void {
  if (parent !== window) parent.postMessage({ subject: 'lti.frameResize', height }, '*');
}

/** Reads a request of the host; undefined for anything else. */
export function readHostRequest(data: unknown): HostRequest | undefined {
  const { source, v, type, token, stepId, height, top, bottom } = (data ?? {}) as JsonObject;
  if (source !== 'lectern' || v !== 1) return undefined;
  if (type === 'hello' || type === 'tokenDelayed') return { type };
  if (type === 'setToken' && typeof token === 'string' && token !== '' && token.length <= maxTokenChars) {
    return { type, token };
  }
  if (type === 'viewport' && isPixels(height) && height > 0) {
    return { type, height, ...(isPixels(top) && isPixels(bottom) && { part: { top, bottom } }) };
  }
  return type === 'goTo' && typeof stepId === 'string' ? { type, stepId } : undefined;
}

function isPixels(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
