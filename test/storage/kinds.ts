import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { Bucket } from '../../shared/storage/s3/bucket.ts';
import { createS3Store } from '../../shared/storage/s3/s3-store.ts';
import { defaultLimits } from '../../shared/storage/s3/settings.ts';
import type { S3Limits, S3Settings } from '../../shared/storage/s3/settings.ts';
import { findS3Server, startS3Server } from '../support/s3-server.ts';
import type { S3Server } from '../support/s3-server.ts';
import { startStore } from './stores.ts';
import type { TestStore } from './stores.ts';

export interface S3TestStore extends TestStore {
  /** Of files on their way to the bucket. */
  spoolFolder: string;
  settings: S3Settings;
  bucket: Bucket;
}

/** An empty store in a bucket, below a prefix of its own. Its parts are the least that S3 takes. */
export async function startS3Store(
  server: S3Server,
  changes: Partial<S3Settings> = {},
  limits: Partial<S3Limits> = {},
): Promise<S3TestStore> {
  const settings = { ...server.settings, prefix: `${randomUUID()}/`, ...changes };
  const spoolFolder = await mkdtemp(join(tmpdir(), 'lectern-spool-'));
  onTestFinished(() => rm(spoolFolder, { recursive: true, force: true }));
  const bucket = new Bucket({ ...server.settings, prefix: settings.prefix }, defaultLimits);
  return {
    store: createS3Store(settings, {
      spoolFolder,
      partBytes: leastPartBytes,
      limits: { ...defaultLimits, ...limits },
    }),
    settings,
    spoolFolder,
    bucket,
    files: async () => {
      const names: string[] = [];
      for await (const page of bucket.list('')) names.push(...page.map(({ name }) => name));
      return names.sort();
    },
    damage: (name, bytes) => bucket.put(name, bytes),
  };
}

export const leastPartBytes = 5 * 1024 ** 2;

const binary = await findS3Server();

/** The S3 server of a test file, started when the first of its tests wants it; null where there is none to be had. */
export const s3Server = 'missing' in binary ? null : lazily(() => startS3Server(binary.binary));

/** For the names of tests that cannot run here. */
export const s3Name = 'missing' in binary ? `S3, SKIPPED: ${binary.missing}` : 'S3';

/** The implementations that one suite runs over. */
export const storeKinds: { name: string; skip: boolean; start: () => Promise<TestStore> }[] = [
  { name: 'disk', skip: false, start: startStore },
  {
    name: s3Name,
    skip: s3Server === null,
    start: async () => {
      if (s3Server === null) throw new Error(s3Name);
      return startS3Store(await s3Server());
    },
  },
];

function lazily(start: () => Promise<S3Server>): () => Promise<S3Server> {
  let server: Promise<S3Server> | null = null;
  afterAll(async () => (await server)?.close());
  return () => (server ??= start());
}
