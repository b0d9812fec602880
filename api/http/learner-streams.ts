import { Readable } from 'node:stream';
import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';
import type { EndpointContext } from './endpoint.ts';
import { tooMany } from './retry-after.ts';

/**
 * Limits the streams of learners in this process: two for each organization. A stream takes up to 16 MiB, for a page of
 * records with large answers and its rows. A client that reads slowly keeps its stream until the idle timeout.
 */
export class LearnerStreams {
  readonly #limit = new ConcurrencyLimit({ concurrent: 2, waiting: 0 });

  /**
   * Sends chunks as the response, at the pace of the client.
   *
   * @param content.chunks opens the chunks. A Readable is destroyed as soon as the client disconnects; a generator ends
   *   after its current chunk.
   * @param content.type the media type.
   * @throws {LecternError} TOO_MANY_REQUESTS
   */
  send(
    ctx: EndpointContext,
    organizationId: string,
    {
      chunks,
      type,
      fileName,
    }: { chunks: () => Readable | AsyncIterable<string | Uint8Array>; type: string; fileName: string },
  ): void {
    const end = this.#limit.tryBegin(organizationId);
    if (end === null) throw tooMany('Too many lists of learners are being sent');
    const opened = chunks();
    const body = opened instanceof Readable ? opened : Readable.from(opened, { objectMode: false });
    // Koa destroys the stream with the response, even if nothing was read from it.
    ctx.body = body.once('close', end);
    ctx.attachment(fileName);
    ctx.type = type;
    ctx.set('Cache-Control', 'no-store');
  }
}
