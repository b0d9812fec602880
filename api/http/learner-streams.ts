import { Readable } from 'node:stream';
import { MemoryShares } from './memory-shares.ts';
import type { EndpointContext } from './endpoint.ts';
import { tooMany } from './retry-after.ts';

const MiB = 1024 ** 2;

/** The memory of a stream in the worst case: a page of records with large answers, and its rows. */
const streamBytes = 16 * MiB;

/**
 * Limits the streams of learners in this process: two for each organization, and four in total. An organization without
 * a stream always gets one. A client that reads slowly keeps its stream until the idle timeout.
 */
export class LearnerStreams {
  readonly #memory = new MemoryShares(4 * streamBytes, 2 * streamBytes);

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
    if (!this.#memory.hasRoom(organizationId, streamBytes))
      throw tooMany('Too many lists of learners are being sent');
    const opened = chunks();
    const body = opened instanceof Readable ? opened : Readable.from(opened, { objectMode: false });
    // Koa destroys the stream with the response, even if nothing was read from it.
    ctx.body = body.once('close', this.#memory.take(organizationId, streamBytes));
    ctx.attachment(fileName);
    ctx.type = type;
    ctx.set('Cache-Control', 'no-store');
  }
}
