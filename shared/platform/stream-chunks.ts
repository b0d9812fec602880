import { finished, type Readable } from 'node:stream';

/** The stream pauses once this many bytes wait for the reader. */
const maxWaitingBytes = 64 * 1024;

/** If more chunks than this wait, they are joined: as objects, tiny chunks take far more memory than their bytes. */
const maxSeparateChunks = 16;

/**
 * Yields the chunks of a stream as they arrive. The stream's own iterator joins all chunks that wait for the reader,
 * which copies most bytes of a download and doubles the memory that the garbage collector has to free.
 * Does not end the stream when the reader leaves early: the caller must destroy it.
 *
 * @throws the stream's error, or ERR_STREAM_PREMATURE_CLOSE when it closes before its end
 */
export async function* chunksOf(stream: Readable): AsyncGenerator<Buffer, void, undefined> {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let end: { error: Error | null | undefined } | undefined;
  let wake = () => {};
  const onData = (chunk: Buffer) => {
    waiting.push(chunk);
    waitingBytes += chunk.byteLength;
    if (waitingBytes >= maxWaitingBytes) stream.pause();
    wake();
  };
  const stopWatching = finished(stream, { writable: false }, (error) => {
    end = { error };
    wake();
  });
  stream.on('data', onData);
  try {
    for (;;) {
      const taken = waiting;
      waiting = [];
      waitingBytes = 0;
      if (taken.length > maxSeparateChunks) yield Buffer.concat(taken);
      else yield* taken;
      if (waiting.length > 0) continue;
      if (end?.error) throw end.error;
      if (end !== undefined) return;
      const arrived = new Promise<void>((resolve) => {
        wake = resolve;
      });
      stream.resume();
      await arrived;
    }
  } finally {
    stopWatching();
    stream.off('data', onData).pause();
  }
}
