import { execFile } from 'node:child_process';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { openPromise } from 'yauzl';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { ArchiveWriter } from '../../worker/exports/archive-writer.ts';
import type { ArchiveSink } from '../../worker/exports/archive-writer.ts';
import { someBytes, someTime } from '../exports/archives.ts';
import { temporaryFolder } from '../support/folders.ts';

const run = promisify(execFile);
const GiB = 1024 ** 3;
const largeSize = 4 * GiB + 12_345;
const small = someBytes(100_000);
const zeros = Buffer.alloc(1024 ** 2);

/** Yields zeros, a MiB at a time. */
async function* zerosOf(size: number): AsyncGenerator<Uint8Array> {
  for (let left = size; left > 0; left -= zeros.length) {
    yield left >= zeros.length ? zeros : zeros.subarray(0, left);
    await Promise.resolve();
  }
}

async function crcOfZeros(size: number): Promise<number> {
  let checksum = 0;
  for await (const chunk of zerosOf(size)) checksum = crc32(chunk, checksum);
  return checksum;
}

/** Creates a sink that leaves holes for zeros, so gigabytes of them take no disk space. */
async function sparseSink(path: string): Promise<ArchiveSink & { close(): Promise<void> }> {
  const handle = await open(path, 'wx');
  let position = 0;
  return {
    async write(chunks) {
      for (const chunk of chunks) {
        if (chunk.length !== zeros.length || !zeros.equals(chunk))
          await handle.write(chunk, 0, chunk.length, position);
        position += chunk.length;
      }
    },
    close: () => handle.close(),
  };
}

/** Writes an archive of a small file, one over 4 GiB, and one that begins beyond 4 GiB. */
async function largeArchive(): Promise<{ path: string; size: number }> {
  const path = join(await temporaryFolder(), 'large.zip');
  const sink = await sparseSink(path);
  const writer = new ArchiveWriter(sink, someTime);
  await writer.add('first.bin', digestOf(small), bytesOf(small));
  await writer.add('large.bin', { size: largeSize, crc32: await crcOfZeros(largeSize) }, zerosOf(largeSize));
  await writer.add('last.bin', digestOf(small), bytesOf(small));
  const { size } = await writer.finish();
  await sink.close();
  return { path, size };
}

test('three readers read an archive with a file over 4 GiB and one after it, which alone use ZIP64', async () => {
  const { path, size } = await largeArchive();
  const file = await stat(path);
  expect(file.size).toBe(size);
  // 512-byte blocks: the zeros are holes.
  expect(file.blocks * 512).toBeLessThan(64 * 1024 ** 2);

  await run('unzip', ['-tqq', path]);
  const script = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None';
  await run('python3', ['-c', script, path]);

  const archive = await openPromise(path);
  const found: { name: string; size: number; offset: number; zip64: boolean; checksum: number }[] = [];
  for await (const entry of archive.eachEntry()) {
    let checksum = 0;
    for await (const chunk of await archive.openReadStreamPromise(entry))
      checksum = crc32(chunk as Buffer, checksum);
    expect(checksum).toBe(entry.crc32);
    const { fileName: name, uncompressedSize, relativeOffsetOfLocalHeader: offset } = entry;
    found.push({ name, size: uncompressedSize, offset, zip64: entry.extraFieldRaw.length > 0, checksum });
  }
  expect(found.map(({ name, size: bytes, zip64 }) => [name, bytes, zip64])).toEqual([
    ['first.bin', small.length, false],
    ['large.bin', largeSize, true],
    ['last.bin', small.length, true],
  ]);
  expect(found[2]?.offset).toBeGreaterThan(4 * GiB);
  expect(found[2]?.checksum).toBe(crc32(small));
}, 300_000);

test('a file of 4 GiB less one byte, the largest 32-bit number, uses ZIP64', async () => {
  const path = join(await temporaryFolder(), 'boundary.zip');
  const sink = await sparseSink(path);
  const writer = new ArchiveWriter(sink, someTime);
  const size = 4 * GiB - 1;
  await writer.add('boundary.bin', { size, crc32: await crcOfZeros(size) }, zerosOf(size));
  await writer.finish();
  await sink.close();
  await run('unzip', ['-tqq', path]);
  const archive = await openPromise(path);
  for await (const entry of archive.eachEntry()) {
    expect([entry.uncompressedSize, entry.extraFieldRaw.length]).toEqual([size, 20]);
  }
}, 300_000);
