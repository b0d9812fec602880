import { setImmediate as nextTurn } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { ArchiveWriter } from '../../worker/exports/archive-writer.ts';
import { memorySink, someBytes, someTime } from './archives.ts';

const bytes = someBytes(1000);
const digest = digestOf(bytes);
const writerTo = (sink = memorySink()) => new ArchiveWriter(sink, someTime);

describe('an archive rejects', () => {
  test('a name that it already contains', async () => {
    const writer = writerTo();
    await writer.add('a.png', digest, bytesOf(bytes));
    await expect(writer.add('a.png', digest, bytesOf(bytes))).rejects.toThrow(
      'a.png is in the archive already',
    );
  });

  test('a name that is longer than ZIP allows', async () => {
    await expect(writerTo().add('n'.repeat(65_536), digest, bytesOf(bytes))).rejects.toThrow();
  });

  test('bytes that do not match the announced checksum', async () => {
    const damaged = Buffer.from(bytes);
    damaged[500] = (damaged[500] ?? 0) ^ 1;
    await expect(writerTo().add('a.png', digest, bytesOf(damaged))).rejects.toThrow('a.png is damaged');
  });

  test('fewer bytes than announced', async () => {
    await expect(writerTo().add('a.png', digest, bytesOf(bytes.subarray(1)))).rejects.toThrow(
      'a.png is damaged: 999 of 1000 bytes',
    );
  });

  test('more bytes than announced, without reading an endless source', async () => {
    let read = 0;
    async function* endless() {
      for (;;) {
        read += bytes.length;
        yield bytes;
        await nextTurn();
      }
    }
    await expect(writerTo().add('a.png', digest, endless())).rejects.toThrow('a.png is damaged');
    expect(read).toBe(2000);
  });
});

test('an error of the source fails the archive and closes the source', async () => {
  let closed = false;
  async function* failing() {
    try {
      yield bytes;
      await nextTurn();
      throw new Error('the disk is gone');
    } finally {
      closed = true;
    }
  }
  await expect(writerTo().add('a.png', digest, failing())).rejects.toThrow('the disk is gone');
  expect(closed).toBe(true);
});

describe('a sink that fails', () => {
  /** Accepts some writes, then fails every further one. */
  function failingSink(goodWrites: number) {
    let writes = 0;
    return {
      write: async () => {
        await nextTurn();
        writes += 1;
        if (writes > goodWrites) throw new Error('no space left');
      },
    };
  }
  const large = someBytes(3 * 1024 ** 2);
  const chunks = async function* () {
    for (let start = 0; start < large.length; start += 65_536) {
      yield large.subarray(start, start + 65_536);
      await nextTurn();
    }
  };

  // Vitest fails the run on an unhandled rejection.
  test.each([0, 1, 2])('after %i writes fails the archive, at once or on finish', async (good) => {
    const writer = new ArchiveWriter(failingSink(good), someTime);
    const writing = writer.add('large.bin', digestOf(large), chunks()).then(() => writer.finish());
    await expect(writing).rejects.toThrow('no space left');
    await nextTurn();
  });
});

test('writes run one at a time, and finish returns the size and SHA-256 of the written bytes', async () => {
  const sink = memorySink();
  let underWay = 0;
  let most = 0;
  const writer = new ArchiveWriter(
    {
      async write(chunks) {
        underWay += 1;
        most = Math.max(most, underWay);
        await nextTurn();
        await sink.write(chunks);
        underWay -= 1;
      },
    },
    someTime,
  );
  const large = someBytes(2.5 * 1024 ** 2);
  for (const name of ['a', 'b', 'c']) await writer.add(name, digestOf(large), bytesOf(large));
  const { size, sha256 } = await writer.finish();
  expect(most).toBe(1);
  expect(size).toBe(sink.bytes().length);
  expect(sha256).toBe(createHash('sha256').update(sink.bytes()).digest('hex'));
});
