import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '../../shared/platform/config.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import { growingPartBytes, mebibyte, partBytesOf } from '../../shared/storage/s3/object-writer.ts';

import { environmentOf } from '../support/s3-server.ts';
import { s3Name, useS3Server } from './kinds.ts';

const s3Server = useS3Server();
const TiB = 1024 ** 4;

test('growing parts hold the largest object of S3 in fewer than 10,000, and none is larger than a buffer', () => {
  let size = 0;
  let parts = 0;
  while (size < 5 * TiB) {
    parts += 1;
    size += growingPartBytes(parts, 32 * mebibyte);
  }
  expect(parts).toBeLessThan(10_000);
  expect(growingPartBytes(10_000, 32 * mebibyte)).toBeLessThanOrEqual(2 * 1024 ** 3);
  expect(growingPartBytes(5_000, 32 * mebibyte)).toBe(32 * mebibyte);
});

test('equal parts of a file whose size is known hold it in fewer than 10,000', () => {
  expect((5 * TiB) / partBytesOf(5 * TiB)).toBeLessThan(10_000);
});

test.skipIf(s3Server === null)(
  `the largest limits that can be set leave archives possible (${s3Name})`,
  async () => {
    const server = await s3Server?.();
    if (server === undefined) throw new Error('no S3 server');
    const dataDir = await mkdtemp(join(tmpdir(), 'lectern-parts-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const most = String(Number.MAX_SAFE_INTEGER);
    const limits = { EXPORT_MAX_BYTES: most, MEDIA_MAX_BYTES: most, S3_PREFIX: 'large-limits' };
    const config = parseConfig({ ...environmentOf(server.settings), ...limits, LECTERN_DATA_DIR: dataDir });
    const store = await createStore(config);
    const draft = await store.archives.create();
    await draft.write([Buffer.alloc(1000, 'archive')]);
    await draft.publish('x1', 'a'.repeat(64));
    const archive = await store.archives.open('x1');
    expect(archive?.size).toBe(1000);
    await archive?.close();
  },
);
