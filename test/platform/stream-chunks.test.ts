import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { chunksOf } from '../../shared/platform/stream-chunks.ts';

const chunk = (byte: number, size = 40_000) => Buffer.alloc(size, byte);

test('chunks that wait for the reader arrive as they were, without a copy', async () => {
  const sent = [chunk(1), chunk(2), chunk(3), chunk(4)];
  const stream = new PassThrough({ highWaterMark: 1024 ** 2 });
  for (const part of sent) stream.write(part);
  stream.end();
  const received: Buffer[] = [];
  for await (const part of chunksOf(stream)) received.push(part);
  expect(received).toHaveLength(4);
  expect(received.every((part, index) => part === sent[index])).toBe(true);
});

test('many tiny chunks that wait for the reader are joined', async () => {
  const stream = new PassThrough();
  const parts = chunksOf(stream);
  const first = parts.next();
  for (let byte = 0; byte < 1000; byte += 1) stream.write(Buffer.from([byte % 256]));
  stream.end();
  const received = [(await first).value as Buffer];
  for await (const part of parts) received.push(part);
  expect(received.length).toBeLessThan(20);
  expect(Buffer.concat(received)).toEqual(Buffer.from(Array.from({ length: 1000 }, (_, byte) => byte % 256)));
});

test('a slow reader holds the source back', async () => {
  let produced = 0;
  const endless = new Readable({
    read() {
      produced += 1;
      this.push(chunk(1));
    },
  });
  const parts = chunksOf(endless);
  expect((await parts.next()).value).toHaveLength(40_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(produced).toBeLessThan(10);
  await parts.return();
  endless.destroy();
});

test.each([
  ['an error', (stream: PassThrough) => stream.destroy(new Error('broken')), 'broken'],
  ['an early end', (stream: PassThrough) => stream.destroy(), 'Premature close'],
])('%s fails the reader, but only after the bytes before it', async (_title, stop, message) => {
  const stream = new PassThrough();
  const parts = chunksOf(stream);
  stream.write('before');
  expect(String((await parts.next()).value)).toBe('before');
  const next = parts.next();
  stop(stream);
  await expect(next).rejects.toThrow(message);
  await expect(chunksOf(stream).next()).rejects.toThrow(message);
});
