import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { openPromise } from 'yauzl';
import { ArchiveWriter } from '../../worker/exports/archive-writer.ts';
import type { ArchiveSink } from '../../worker/exports/archive-writer.ts';
import { someTime } from '../exports/archives.ts';
import { temporaryFolder } from '../support/folders.ts';

const run = promisify(execFile);
const GiB = 1024 ** 3;
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
