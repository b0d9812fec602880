import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { Bucket } from '../../shared/storage/s3/bucket.ts';
import { createS3Store } from '../../shared/storage/s3/s3-store.ts';
import type { S3StoreOptions } from '../../shared/storage/s3/s3-store.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import { defaultLimits } from '../../shared/storage/s3/settings.ts';
import type { S3Limits, S3Settings } from '../../shared/storage/s3/settings.ts';
import { requestS3Server } from '../support/s3-server.ts';
import type { S3Server } from '../support/s3-server.ts';
import { startStore } from './stores.ts';
import type { TestStore } from './stores.ts';

export type S3TestStore = Awaited<ReturnType<typeof startS3Store>>;

const response = await requestS3Server(inject('runDir'));

/** For the names of tests that cannot run here. */
export const s3Name = 'missing' in response ? `S3, SKIPPED: ${response.missing}` : 'S3';

/** Returns the S3 server of the test run, with its own prefix for this caller; null if there is none. */
export function useS3Server(): (() => Promise<S3Server>) | null {
  if ('missing' in response) return null;
  const server = { settings: { ...response.settings, prefix: `${randomUUID()}/` } };
  return () => Promise.resolve(server);
}

/** The smallest parts that S3 accepts. */
export const minPartBytes = 5 * 1024 ** 2;

/** Creates an empty store in the bucket, with its own prefix and the smallest parts. */
export async function startS3Store(
  server: S3Server,
  changes: Partial<S3Settings> = {},
  limits: Partial<S3Limits> = {},
  options: Partial<Pick<S3StoreOptions, 'lastUses' | 'unreadMs'>> = {},
) {
  const settings = { ...server.settings, prefix: `${randomUUID()}/`, ...changes };
  const spoolFolder = await mkdtemp(join(inject('runDir'), 'spool-'));
  const bucket = new Bucket({ ...server.settings, prefix: settings.prefix }, defaultLimits);
  return {
    store: createS3Store(settings, {
      lastUses: noLastUses,
      ...options,
      spoolFolder,
      partBytes: minPartBytes,
      limits: { ...defaultLimits, ...limits },
    }),
    ...{ settings, bucket },
    /** The folder of files before their upload. */
    spoolFolder,
    files: async () => {
      const names: string[] = [];
      for await (const page of bucket.list('')) names.push(...page.map(({ name }) => name));
      return names.sort();
    },
    damage: (name: string, bytes: Uint8Array) => bucket.put(name, bytes),
  };
}

/** The implementations of the store, as rows of a suite that runs over all of them. */
export const storeKinds: { name: string; skip: boolean; start: () => Promise<TestStore> }[] = [
  { name: 'disk', skip: false, start: startStore },
  {
    name: s3Name,
    skip: 'missing' in response,
    start: async () => {
      if ('missing' in response) throw new Error(s3Name);
      return startS3Store(response);
    },
  },
];
