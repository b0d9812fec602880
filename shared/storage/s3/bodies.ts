import type { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { CallTimeout } from './faults.ts';

/** Returns the object's size, and the end of the part in a response. */
export function sentRange(
  { ContentRange, ContentLength }: GetObjectCommandOutput,
  start: number,
): { size: number; end: number } {
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(ContentRange ?? '') ?? [];
  if (Number(first) === start) return { size: Number(size), end: Number(last) + 1 };
  // A service may send the whole object if the range covers it.
  if (ContentRange === undefined && start === 0 && ContentLength !== undefined) {
    return { size: ContentLength, end: ContentLength };
  }
  throw new Error(`Requested bytes from ${start}, but the service sent "${ContentRange}"`);
}

/** Yields the chunks of a body, and aborts it when none arrives for too long; the reader's own time does not count. */
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
