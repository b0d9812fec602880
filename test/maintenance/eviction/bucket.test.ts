import { expect, onTestFinished, test, vi } from 'vitest';
import { trackUsage } from '../../../shared/storage/tracked-store.ts';
import { bytesOf, digestOf } from '../../../shared/storage/digest.ts';
import { s3Name, startS3Store, useS3Server } from '../../storage/kinds.ts';
import { startHarness } from '../../support/harness.ts';
import { agedStore, evictorOf, joinStore, backdateUsage } from './evictable.ts';

const s3Server = useS3Server();

vi.setConfig({ testTimeout: 60_000 });

test.skipIf(s3Server === null)(
  `what is not in use is evicted from a bucket as well (${s3Name})`,
  async () => {
    if (s3Server === null) return;
    const harness = await startHarness();
    onTestFinished(() => harness.close());
    const worker = await joinStore(harness);
    await backdateUsage(harness, worker.redis);
    const { store } = await startS3Store(await s3Server());
    const [unused, used] = [Buffer.from('not used for hours'), Buffer.from('used just now')];
    for (const bytes of [unused, used]) await store.cache.put(bytesOf(bytes));
    const key = `x${'1'.repeat(40)}`;
    const draft = await store.archives.create();
    await draft.write([unused]);
    await draft.publish(key, digestOf(unused).sha256);
    await draft.discard();

    const reader = trackUsage(store, worker.coordination.usage);
    expect(await reader.cache.has(digestOf(used))).toBe(true);
    const evictor = evictorOf(harness, worker, { maxAgeHours: 1, store: agedStore(store) });
    expect(await evictor.keepLimits()).toEqual({ files: 2, bytes: 2 * unused.length });
    expect(await store.cache.has(digestOf(unused))).toBe(false);
    expect(await store.cache.has(digestOf(used))).toBe(true);
    expect(await store.archives.open(key)).toBeNull();
  },
);
