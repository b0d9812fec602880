import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { Body, type BodyRules } from '../../../shared/media/downloads/body.ts';
import { IdleTimeout } from '../../../shared/media/downloads/idle-timeout.ts';

const rules: BodyRules = {
  host: 'media.test:80',
  maxBytes: 1000,
  length: null,
  gzip: false,
  mimeType: 'text/vtt',
  onBytes: undefined,
};

/** The rest of a body whose connection ended without an error, so that only the body itself can report one. */
function makeBody(chunks: string[], changes: Partial<BodyRules> = {}) {
  const controller = new AbortController();
  const watch = new IdleTimeout(controller.signal, {
    host: 'media.test:80',
    idleMs: 60_000,
    minBytesPerSecond: 0,
    deadlineMs: 60_000,
  });
  const source = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return { body: new Body(source, { ...rules, ...changes }, watch), controller, watch, source };
}

test.each([9, 11])(
  'a body of 10 bytes is not one of %i, even if its connection ended well',
  async (length) => {
    const { body, watch } = makeBody(['01234', '56789'], { length });
    const reading = (async () => {
      for await (const chunk of body) expect(chunk.length).toBeGreaterThan(0);
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'truncated' });
    expect(body.complete).toBe(false);
    watch.close();
  },
);

test('a body that has arrived and waits to be read ends at an abort all the same', async () => {
  // Not held back to look at its type.
  const large = '0'.repeat(10_000);
  const { body, controller, watch, source } = makeBody([large, large], { maxBytes: 1_000_000 });
  const reason = new Error('no longer wanted');
  const reading = (async () => {
    for await (const chunk of body) {
      expect(chunk).toHaveLength(large.length);
      controller.abort(reason);
    }
  })();
  await expect(reading).rejects.toBe(reason);
  expect(body.failure).toBe(reason);
  expect(source.destroyed).toBe(true);
  watch.close();
});
