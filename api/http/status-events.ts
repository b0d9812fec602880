import { Readable } from 'node:stream';
import { z } from 'zod';
import type { RequestContext } from './context.ts';
import { written } from './endpoint.ts';

/** The media type of Server-Sent Events. */
const eventStream = 'text/event-stream';

/** The poll interval between events: positions in a queue change without one. */
const pollIntervalMs = 1_500;

/** Often enough that no proxy closes an idle stream as dead. */
const defaultHeartbeatMs = 15_000;

/** How long an EventSource waits before it reconnects. */
const reconnectMs = 2_000;

/** The status of a job, and its changes. */
export interface StatusSource<Status extends { status: string }> {
  first: Status;
  read: () => Promise<Status>;
  /** Resolves when the status may have changed, at the latest after `timeoutMs`. @throws when the signal is aborted. */
  changed: (timeoutMs: number, signal: AbortSignal) => Promise<void>;
  isFinal: (status: Status) => boolean;
  /** The maximum duration of a stream. */
  waitSeconds: number;
  signal: AbortSignal;
  heartbeatMs?: number;
}

/**
 * Yields the status of a job as Server-Sent Events: at once, after every change, and a heartbeat in between. Ends after
 * a final status, after `waitSeconds`, or when the signal is aborted.
 */
export async function* statusEvents<Status extends { status: string }>({
  first,
  read,
  changed,
  isFinal,
  waitSeconds,
  signal,
  heartbeatMs = defaultHeartbeatMs,
}: StatusSource<Status>): AsyncGenerator<string> {
  const end = Date.now() + waitSeconds * 1000;
  try {
    let sent = toEvent(first);
    let sentAt = Date.now();
    yield `retry: ${reconnectMs}\n${sent}`;
    for (let status = first; !isFinal(status) && Date.now() < end;) {
      await changed(pollIntervalMs, signal);
      // While a server is down, the stream keeps the last status.
      status = await read().catch(() => status);
      const event = toEvent(status);
      const isNew = event !== sent;
      if (!isNew && Date.now() - sentAt < heartbeatMs) continue;
      sent = event;
      sentAt = Date.now();
      yield isNew ? event : ': heartbeat\n\n';
    }
  } catch (error) {
    // Clients reconnect when this process shuts down.
    if (!signal.aborted) throw error;
  }
}

/** Uses the status as event id, so that a client that reconnects sends the status it already has. */
function toEvent(status: { status: string }): string {
  return `id: ${status.status}\ndata: ${JSON.stringify(status)}\n\n`;
}

/** The header with which a client continues a stream. @param example an id of an event. */
export function lastEventId(example: string) {
  return z.strictObject({
    'Last-Event-ID': z
      .string()
      .optional()
      .meta({ description: 'The `id` of the last event of an earlier stream.', examples: [example] }),
  });
}

/** The stream in the responses of an endpoint, beside JSON. */
export const eventAlternative = {
  [eventStream]: { schema: z.string().meta({ description: 'Server-Sent Events.' }) },
};

/**
 * Responds with the status of a job: once as JSON, or as a stream of events if the client accepts one.
 *
 * @param options.begin counts the stream, and returns a function to call when it is closed.
 */
export async function respondWithStatus<Status extends { status: string }>(
  ctx: RequestContext,
  status: Status,
  {
    isFinal,
    begin,
    events,
  }: {
    isFinal: (status: Status) => boolean;
    begin: () => Promise<() => void>;
    events: () => AsyncGenerator<string>;
  },
): Promise<{ status: 200; body: Status } | { status: 204 } | typeof written> {
  ctx.vary('Accept');
  if (ctx.accepts('application/json', eventStream) !== eventStream) return { status: 200, body: status };
  // Only 204 stops an EventSource from reconnecting.
  if (isFinal(status) && ctx.get('Last-Event-ID') === status.status) return { status: 204 };
  const end = await begin();
  ctx.set('Cache-Control', 'no-store');
  // Koa destroys the stream with the response, even if nothing was read from it.
  ctx.body = Readable.from(events()).once('close', end);
  ctx.type = eventStream;
  // Without this, nginx buffers events.
  ctx.set('X-Accel-Buffering', 'no');
  return written;
}
