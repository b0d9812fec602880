import { randomBytes, randomUUID } from 'node:crypto';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { recordSignedUrls, saveExportRecord } from '../../../shared/models/export-record.ts';
import { connectOptionalRedis } from '../../../shared/platform/redis.ts';
import { usageKeys } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';
import { createCoordination } from '../../../shared/coordination/coordination.ts';
import type { Coordination } from '../../../shared/coordination/coordination.ts';
import { trackUsage } from '../../../shared/storage/tracked-store.ts';
import { bytesOf, digestOf } from '../../../shared/storage/digest.ts';
import type { Digest, Store } from '../../../shared/storage/store.ts';
import { Evictor } from '../../../worker/maintenance/eviction/evictor.ts';
import { EvictionClaims } from '../../../worker/maintenance/eviction/eviction-claims.ts';
import { filesBelow } from '../../storage/stores.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';

const minuteMs = 60_000;

/** A process that shares the harness's store: a worker, or an API. */
export interface StoreClient {
  redis: Redis;
  coordination: Coordination;
  store: Store;
}

/** Ends with the test. */
export async function joinStore({ servers, config, store }: Harness): Promise<StoreClient> {
  const redis = await connectOptionalRedis(servers.redisUrl);
  const coordination = createCoordination(redis, config);
  onTestFinished(() => {
    coordination.usage.close();
    redis.disconnect();
  });
  return { redis, coordination, store: trackUsage(store, coordination.usage) };
}

/** A harness and a worker's view of its store, as if Redis had run for a day. Ends with the test. */
export async function startEviction(
  settings: Record<string, string> = {},
): Promise<{ harness: Harness; worker: StoreClient }> {
  const harness = await startHarness(settings);
  onTestFinished(() => harness.close());
  const worker = await joinStore(harness);
  await backdateUsage(harness, worker.redis);
  return { harness, worker };
}

/** Records that an organization got signed URLs of a file, as a request for a manifest does. */
export async function signFor(
  { db }: Harness,
  { digest }: Pick<StoredFile, 'digest'>,
  until: Date,
  organizationId = 'tenant',
): Promise<void> {
  const exportKey = `x${randomUUID()}`;
  const archive = { size: 1, sha256: `sha-256 of ${exportKey}` };
  await saveExportRecord(db, {
    exportKey,
    contentDigest: 'd',
    exportedAt: new Date(),
    archive,
    entries: [{ path: 'media/a.png', area: 'cache', ...digest }],
  });
  await recordSignedUrls(db, { exportKeys: [exportKey], sha256: archive.sha256, organizationId }, until);
}

/** An evictor of a store's own limits. @param limits.store in place of the harness's. */
export function evictorOf(
  { db, store, config }: Harness,
  { redis, coordination }: Pick<StoreClient, 'redis' | 'coordination'>,
  limits: { maxBytes?: number; maxAgeHours?: number; store?: Store },
): Evictor {
  const { maxBytes = 0, maxAgeHours = 0 } = limits;
  return new Evictor({
    db,
    store: limits.store ?? store,
    redis,
    incomplete: coordination.incomplete,
    limits: { maxBytes, maxAgeHours },
    config,
  });
}

/** As if the server had run for a day, and lost nothing since. */
export async function backdateUsage({ config }: Harness, redis: Redis): Promise<void> {
  const { server, now } = await new EvictionClaims(redis, config.redisPrefix).begin();
  const since = now - 24 * 60 * minuteMs;
  await redis.set(`${config.redisPrefix}:${usageKeys.known}`, `${server} ${since}`);
}

/** Makes it so that some files were used last so many minutes ago. */
export async function ageFiles(
  { config }: Harness,
  redis: Redis,
  files: readonly EvictableFile[],
  minutes: number,
): Promise<void> {
  const used = Date.now() - minutes * minuteMs;
  for (const file of files) await redis.zadd(`${config.redisPrefix}:${usageKeys.used}`, used, file);
}

/** As if all files had been stored so many minutes ago, and used last at that time; but what has to stay stays. */
export async function ageStore(harness: Harness, redis: Redis, minutes: number): Promise<void> {
  const { storeDir, redisPrefix } = harness.config;
  for (const path of await filesBelow(storeDir)) await setAge(join(storeDir, path), minutes);
  const used = await redis.zrangebyscore(`${redisPrefix}:${usageKeys.used}`, '-inf', Date.now());
  await ageFiles(harness, redis, used as EvictableFile[], minutes);
}

/** The store, as if everything in it had been stored three hours ago. */
export function agedStore(store: Store): Store {
  async function* age<Listed extends { storedAt: Date }>(pages: AsyncIterable<Listed[]>) {
    const storedAt = new Date(Date.now() - 180 * minuteMs);
    for await (const page of pages) yield page.map((listed) => ({ ...listed, storedAt }));
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
  isThere: () => Promise<boolean>;
}

/** A downloaded file of some bytes that was stored so many minutes ago, and not used since. */
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
  return { name: `cache:${sha256}`, digest, isThere: () => store.cache.has(digest) };
}

/** An archive of some bytes that was stored so many minutes ago, and not used since. */
export async function storeArchive(
  { store, config }: Harness,
  size: number,
  minutes: number,
): Promise<StoredFile & { key: string }> {
  const bytes = randomBytes(size);
  const digest = digestOf(bytes);
  const key = `x${randomUUID().replaceAll('-', '')}00000000`;
  const draft = await store.archives.create();
  await draft.write([bytes]);
  await draft.publish(key, digest.sha256);
  await draft.discard();
  await setAge(join(config.storeDir, 'v1/archives', key.slice(1, 3), key, `${digest.sha256}.zip`), minutes);
  const isThere = async () => {
    const archive = await store.archives.open(key);
    await archive?.close();
    return archive !== null;
  };
  return { name: `archives:${key}`, key, digest, isThere };
}

async function setAge(path: string, minutes: number): Promise<void> {
  const time = (Date.now() - minutes * minuteMs) / 1000;
  await utimes(path, time, time);
}
