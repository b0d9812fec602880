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

const found = await findS3Server();

/** For the names of tests that cannot run here. */
export const s3Name = 'missing' in found ? `S3, SKIPPED: ${found.missing}` : 'S3';

/**
 * An S3 server for a test file, started when the first of its tests wants it; null where there is none to be had. Call
 * it at the top of the file.
 */
export function useS3Server(): (() => Promise<S3Server>) | null {
  if ('missing' in found) return null;
  let server: Promise<S3Server> | null = null;
  afterAll(async () => (await server)?.close());
  return () => (server ??= startS3Server(found.binary));
}

/** A kind of store. */
export interface StoreKind {
  name: string;
  skip: boolean;
  start: () => Promise<TestStore>;
}

/** The implementations that one suite runs over. Call it at the top of a test file. */
export function useStoreKinds(): StoreKind[] {
  const s3Server = useS3Server();
  return [
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
}
