import type { JsonObject } from './session-record.ts';

/** What the page around the lesson is told (docs/embed.md). */
export interface HostEvent extends JsonObject {
  type: 'ready' | 'resize' | 'step' | 'complete' | 'error' | 'token.expiring';
}

/** What the page around the lesson may ask for. */
export type HostRequest =
  | { type: 'hello' }
  | { type: 'setToken'; token: string }
  /** There is no token for now; the host tries again. */
  | { type: 'tokenDelayed' }
  /** CSS pixels of the host's window. */
  | { type: 'viewport'; height: number }
  | { type: 'goTo'; stepId: string };

/** The page around the lesson. */
export interface HostLink {
  /** Tells the host, as soon as it has said hello: before that, nobody knows its origin. */
  tell(this: void, event: HostEvent): void;
}

const maxToken = 16 * 1024;
const maxKept = 50;

/**
 * Talks with the page around this one, if there is one, between exact origins.
 *
 * @param allowedOrigins null for any
 */
export function openHost(
  allowedOrigins: readonly string[] | null,
  onRequest: (request: Exclude<HostRequest, { type: 'hello' }>) => void,
): HostLink {
  if (parent === window) return { tell: () => undefined };
  let origin: string | undefined;
  let kept: HostEvent[] = [];

  function tell(event: HostEvent): void {
    if (origin !== undefined) parent.postMessage({ source: 'lectern', v: 1, ...event }, origin);
    // Of heights only the last one matters.
    else
      kept = [...kept.filter(({ type }) => type !== 'resize' || event.type !== 'resize'), event].slice(
        -maxKept,
      );
  }

  addEventListener('message', (event: MessageEvent<unknown>) => {
    if (event.source !== parent || event.origin === 'null') return;
    if (allowedOrigins !== null && !allowedOrigins.includes(event.origin)) return;
    const request = readHostRequest(event.data);
    if (request === undefined) return;
    // The page around this one may be replaced, its origin may not: who came first is whom we talk with.
    origin ??= event.origin;
    if (origin !== event.origin) return;
    for (const early of kept.splice(0)) tell(early);
    if (request.type !== 'hello') onRequest(request);
  });
  // Says nothing but that somebody listens now. The answer tells the origin.
  parent.postMessage({ source: 'lectern', v: 1, type: 'hello' }, '*');
  return { tell };
}

/**
 * Tells a learning platform how high the lesson is, as platforms listen for it. It says nothing else, and so goes to
 * whatever page is around this one.
 */
export function tellPlatform(height: number): void {
  if (parent !== window) parent.postMessage({ subject: 'lti.frameResize', height }, '*');
}

/** Reads a message of the host; undefined for anything else. */
export function readHostRequest(data: unknown): HostRequest | undefined {
  const { source, v, type, token, stepId, height } = (data ?? {}) as JsonObject;
  if (source !== 'lectern' || v !== 1) return undefined;
  if (type === 'hello' || type === 'tokenDelayed') return { type };
  if (type === 'setToken' && typeof token === 'string' && token !== '' && token.length <= maxToken) {
    return { type, token };
  }
  if (type === 'viewport' && typeof height === 'number' && height > 0) return { type, height };
  return type === 'goTo' && typeof stepId === 'string' ? { type, stepId } : undefined;
}
