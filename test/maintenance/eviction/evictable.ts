import { randomBytes, randomUUID } from 'node:crypto';
import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { beforeEach, onTestFinished } from 'vitest';
import { createCoordination } from '../../../shared/coordination/coordination.ts';
import { recordSignedUrls, saveExportRecord } from '../../../shared/models/export-record.ts';
import { connectOptionalRedis } from '../../../shared/platform/redis.ts';
import { bytesOf, digestOf } from '../../../shared/storage/digest.ts';
import { usageKeys } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';
import type { Digest, Store } from '../../../shared/storage/store.ts';
import { trackUsage } from '../../../shared/storage/tracked-store.ts';
import { EvictionClaims } from '../../../worker/maintenance/eviction/eviction-claims.ts';
import { Evictor } from '../../../worker/maintenance/eviction/evictor.ts';
import { filesBelow } from '../../storage/stores.ts';
import type { Harness } from '../../support/harness.ts';
import { useHarness } from '../../support/use.ts';

export const KB = 1000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Returns the time in so many hours. */
export const inHours = (hours: number) => new Date(Date.now() + hours * hourMs);

/** A process that shares the harness's store: a worker, or an API. */
export type StoreClient = Awaited<ReturnType<typeof joinStore>>;

/** Connects a process to the store until the end of the test. */
export async function joinStore({ servers, config, store }: Harness) {
  const redis = await connectOptionalRedis(servers.redisUrl, () => undefined);
  const coordination = createCoordination(redis, config);
  onTestFinished(() => {
    coordination.usage.close();
    redis.disconnect();
  });
  return { redis, coordination, store: trackUsage(store, coordination.usage) };
}

/** An empty store in each test, and a worker on it, as if Redis had run for a day. */
export interface EvictionLab {
  harness: Harness;
  worker: StoreClient;
  /** Returns a Redis key of the harness. */
  key(name: string): string;
}

export function useEviction(settings: Record<string, string> | (() => Record<string, string>) = {}) {
  const harness = useHarness(settings);
  const lab = { harness, key: (name) => `${harness.config.redisPrefix}:${name}` } as EvictionLab;
  beforeEach(async () => {
    await rm(join(harness.config.storeDir, 'v1'), { recursive: true, force: true });
    await harness.db.exportRecords.deleteMany({});
    await harness.db.installations.deleteMany({});
    lab.worker = await joinStore(harness);
    const keys = await lab.worker.redis.keys(lab.key('files:*'));
    await lab.worker.redis.del(lab.key('sweep:turn'), ...keys);
    await backdateUsage(harness, lab.worker.redis);
  });
  return lab;
}

/** Makes the server look as if it had run for a day without losing data. */
export async function backdateUsage({ config }: Harness, redis: Redis): Promise<void> {
  const { server, now } = await new EvictionClaims(redis, config.redisPrefix).begin();
  await redis.set(`${config.redisPrefix}:${usageKeys.known}`, `${server} ${now - 24 * hourMs}`);
}

/** Creates an evictor with limits. @param limits.store in place of the harness's. */
export function evictorOf(
  { db, store, config }: Harness,
  { redis, coordination: { incomplete } }: Pick<StoreClient, 'redis' | 'coordination'>,
  { store: other = store, ...limits }: { maxBytes?: number; maxAgeHours?: number; store?: Store },
): Evictor {
  const allLimits = { maxBytes: 0, maxAgeHours: 0, ...limits };
  return new Evictor({ db, store: other, redis, incomplete, limits: allLimits, config });
}

/** Records that an organization got signed URLs of a file, like a request for a manifest. */
export async function signFor(
  { db }: Harness,
  { digest }: Pick<StoredFile, 'digest'>,
  until: Date,
  organizationId = 'tenant',
): Promise<void> {
  const exportKey = `x${randomUUID()}`;
  const archive = { size: 1, sha256: `sha-256 of ${exportKey}` };
  const entries = [{ path: 'media/a.png', area: 'cache' as const, ...digest }];
  const built = { exportKey, contentDigest: 'd', exportedAt: new Date(), archive, entries };
  await saveExportRecord(db, { ...built, organizationId });
  await recordSignedUrls(db, { exportKeys: [exportKey], sha256: archive.sha256, organizationId }, until);
}

/** Sets the last use of files to so many minutes ago. */
export async function ageFiles(
  { config }: Harness,
  redis: Redis,
  files: readonly EvictableFile[],
  minutes: number,
): Promise<void> {
  const used = Date.now() - minutes * minuteMs;
  for (const file of files) await redis.zadd(`${config.redisPrefix}:${usageKeys.used}`, used, file);
}

/** Sets the time of storage and the last use of all files to so many minutes ago; pins stay. */
export async function ageStore(harness: Harness, redis: Redis, minutes: number): Promise<void> {
  const { storeDir, redisPrefix } = harness.config;
  for (const path of await filesBelow(storeDir)) await setAge(join(storeDir, path), minutes);
  const used = await redis.zrangebyscore(`${redisPrefix}:${usageKeys.used}`, '-inf', Date.now());
  await ageFiles(harness, redis, used as EvictableFile[], minutes);
}

/** Returns a store that lists all files as stored three hours ago. */
export function agedStore(store: Store): Store {
  async function* age<Listed extends { storedAt: Date }>(pages: AsyncIterable<Listed[]>) {
    for await (const page of pages) yield page.map((listed) => ({ ...listed, storedAt: inHours(-3) }));
  }
  return {
    ...store,
    cache: { ...store.cache, list: () => age(store.cache.list()) },
    archives: { ...store.archives, list: () => age(store.archives.list()) },
  };
}

/** Returns the bytes of all downloads and archives. */
export async function bytesIn(store: Store): Promise<number> {
  let bytes = 0;
  for (const area of [store.cache, store.archives]) {
    for await (const page of area.list()) for (const { size } of page) bytes += size;
  }
  return bytes;
}

export interface StoredFile {
  name: EvictableFile;
  digest: Digest;
  exists: () => Promise<boolean>;
}

export const existing = (files: StoredFile[]) => Promise.all(files.map((file) => file.exists()));
export const namesOf = (...files: StoredFile[]) => files.map(({ name }) => name);

/** Stores a download so many minutes ago, not used since. */
export async function storeDownload(
  { store, config }: Harness,
  size: number,
  minutes: number,
): Promise<StoredFile> {
  const bytes = randomBytes(size);
  const digest = digestOf(bytes);
  const { sha256 } = digest;
  await store.cache.put(bytesOf(bytes));
  await setAge(join(config.storeDir, 'v1/cache', sha256.slice(0, 2), sha256), minutes);
  return { name: `cache:${sha256}`, digest, exists: () => store.cache.has(digest) };
}

/** Stores an archive so many minutes ago, not used since. */
export async function storeArchive(
  { store, config }: Harness,
  size: number,
  minutes: number,
  key = `x${randomUUID().replaceAll('-', '')}00000000`,
): Promise<StoredFile & { key: string }> {
  const bytes = randomBytes(size);
  const digest = digestOf(bytes);
  const draft = await store.archives.create();
  await draft.write([bytes]);
  await draft.publish(key, digest.sha256);
  await draft.discard();
  await setAge(join(config.storeDir, 'v1/archives', key.slice(1, 3), key, `${digest.sha256}.zip`), minutes);
  const exists = async () => {
    const archive = await store.archives.open(key);
    await archive?.close();
    return archive !== null;
  };
  return { name: `archives:${key}`, key, digest, exists };
}

async function setAge(path: string, minutes: number): Promise<void> {
  const time = (Date.now() - minutes * minuteMs) / 1000;
  await utimes(path, time, time);
}
