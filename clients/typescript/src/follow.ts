import { ConnectionError } from './errors.ts';
import { delay, readChunks, retryDelayMs } from './http.ts';
import type { Http, Parts, RequestOptions, Result, Route } from './http.ts';

const reconnectMs = 2_000;
/** Lectern sends a heartbeat every 15 seconds. */
const idleMs = 45_000;
/** The maximum number of connections in a row that bring no event. */
const maxFailures = 8;

/**
 * Yields the status of a job at once and after each change, until it is final (Server-Sent Events). It reconnects when the
 * connection breaks.
 *
 * @param isFinal returns whether no other status follows.
 */
export async function* follow<R extends Route>(
  http: Http,
  route: R,
  parts: Parts,
  isFinal: (status: Result<R>) => boolean,
  options: RequestOptions = {},
): AsyncGenerator<Result<R>> {
  let lastId: string | undefined;
  for (let failures = 0; ; failures += 1) {
    const headers = { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) };
    const response = await http.open(route, { ...parts, headers }, options);
    if (response.status === 204) return;
    try {
      for await (const { id, data } of parseEvents(
        readChunks(response, { idleMs, signal: options.signal }),
      )) {
        failures = 0;
        lastId = id;
        const status = JSON.parse(data) as Result<R>;
        yield status;
        if (isFinal(status)) return;
      }
    } catch (error) {
      if (retryDelayMs(error, 0) === null) throw error;
    }
    if (failures >= maxFailures) {
      throw new ConnectionError('CONNECTION_FAILED', `${failures} connections in a row brought no event`);
    }
    await delay(reconnectMs * (0.5 + Math.random()), options.signal);
  }
}

/** Yields the events of a stream, without comments such as heartbeats. */
async function* parseEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<{ id: string; data: string }> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
      const data = field('data');
      if (data !== undefined) yield { id: field('id') ?? '', data };
    }
  }
}
