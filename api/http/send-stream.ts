import { Readable } from 'node:stream';
import { ConcurrencyLimit, requestWait } from '../../shared/platform/concurrency-limit.ts';
import type { EndpointContext } from './endpoint.ts';

/**
 * The streams of an organization in this process. In the worst case, a stream takes 16 MiB: a page of records with large
 * answers, and its rows. A client that reads slowly keeps its stream until the idle timeout.
 */
const streams = new ConcurrencyLimit({
  ...requestWait,
  ...{ concurrent: 2, inAll: 8 },
  refusal: 'Too many lists of learners are being sent',
});

/**
 * Sends chunks of learners' data as the response, at the pace of the client.
 *
 * @param content.chunks opens the chunks. A Readable is destroyed as soon as the client disconnects; a generator ends
 *   after its current chunk.
 * @param content.type the media type.
 * @throws {LecternError} TOO_MANY_REQUESTS
 */
export async function sendStream(
  ctx: EndpointContext,
  organizationId: string,
  {
    chunks,
    type,
    fileName,
  }: { chunks: () => Readable | AsyncIterable<string | Uint8Array>; type: string; fileName: string },
): Promise<void> {
  const end = await streams.begin(organizationId, ctx.state.signal);
  const opened = chunks();
  const body = opened instanceof Readable ? opened : Readable.from(opened, { objectMode: false });
  // Koa destroys the stream with the response, even if nothing was read from it.
  ctx.body = body.once('close', end);
  ctx.attachment(fileName);
  ctx.type = type;
  ctx.set('Cache-Control', 'no-store');
}
