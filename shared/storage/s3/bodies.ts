import type { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { CallTimeout } from './faults.ts';

/** What an answer says that it has: the object's size, and the end of the part that was sent. */
export function sentRange(
  { ContentRange, ContentLength }: GetObjectCommandOutput,
  start: number,
): { size: number; end: number } {
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(ContentRange ?? '') ?? [];
  if (Number(first) === start) return { size: Number(size), end: Number(last) + 1 };
  // A service may answer with all of it where the range is the whole object.
  if (ContentRange === undefined && start === 0 && ContentLength !== undefined) {
    return { size: ContentLength, end: ContentLength };
  }
  throw new Error(`The bytes from ${start} were asked for, and "${ContentRange}" was sent`);
}

/** The chunks of a body, which is given up when none comes for too long; the reader's own time does not count. */
export async function* withIdleTimeout(body: Readable, milliseconds: number): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const timer = setTimeout(() => body.destroy(new CallTimeout(milliseconds)), milliseconds);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    body.destroy();
  }
}
