import { readHostRequest } from './host-messages.ts';
import type { HostEvent, HostRequest } from './host-messages.ts';

/** The connection to the host page. */
export interface HostLink {
  /** Sends an event once the host has sent its hello, which reveals its origin. */
  send(this: void, event: HostEvent): void;
}

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
    // It becomes CSS unchecked. Pages of this origin could change the page themselves.
    if (request.type === 'theme' && event.origin !== location.origin) return;
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

/**
 * Sends the lesson's height to a learning platform. The message may go to any origin, because it contains only the
 * height.
 */
export function sendHeightToPlatform(height: number): void {
  if (parent !== window) parent.postMessage({ subject: 'lti.frameResize', height }, '*');
}
