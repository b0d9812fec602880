import { setTimeout as delay } from 'node:timers/promises';
import {
  removeOrphanCandidates,
  listOrphanCandidates,
  leaseForDeletion,
  addOrphanCandidate,
} from '../models/orphan-candidate.ts';
import type { OrphanCandidate } from '../models/orphan-candidate.ts';
import type { Database } from '../models/database.ts';
import { assetsUsedByMedia } from '../models/medium.ts';
import { assetsUsedByWidgets } from '../models/widget-release.ts';
import type { Digest, Store } from '../storage/store.ts';

/** How often a file is looked at that is being removed, which takes milliseconds. */
const lookMilliseconds = 50;

/** Files that are looked up at once. */
const lookupBatch = 500;

/** A removal that did not begin within so long after its mark is given up: others rely on the file again. */
const removeMilliseconds = 10_000;

/*
 * Files have the names of their digests, so one that is stored may have been there: for an import that fails, or for
 * one that has yet to say that it needs the file. Whoever stores one therefore notes it, and one that was noted a day
 * ago goes where nothing refers to it. Of a note and a removal MongoDB puts one first: a file that was noted again is
 * not marked as leaving, and one that is leaving is stored after it is gone.
 */

/**
 * Stores an upload or a file of a widget. Something has to refer to it within a day, else a sweep removes it.
 *
 * @param announce as for {@link Store.assets}.
 */
export function storeAsset(
  db: Database,
  store: Store,
  source: AsyncIterable<Uint8Array>,
  announce?: (digest: Digest) => Promise<void>,
): Promise<Digest> {
  return store.assets.put(source, async (digest) => {
    await announce?.(digest);
    await addOrphanCandidates(db, [digest.sha256]);
  });
}

/** Has a sweep look, in a day, whether something refers to these files. */
export async function addOrphanCandidates(db: Database, sha256s: Iterable<string>): Promise<void> {
  for (const sha256 of new Set(sha256s)) {
    while (!(await addOrphanCandidate(db, sha256))) await delay(lookMilliseconds);
  }
}

/**
 * Removes the files that were noted so long ago and that nothing refers to; any number of processes may do so at once.
 *
 * @param signal ends it before its time.
 * @returns how many were removed.
 */
export async function removeUnusedAssets(
  db: Database,
  store: Store,
  olderThanSeconds: number,
  signal?: AbortSignal,
): Promise<number> {
  const before = new Date(Date.now() - olderThanSeconds * 1000);
  let removed = 0;
  for (let after: OrphanCandidate | null = null; ;) {
    const candidates = await listOrphanCandidates(db, { before, after, limit: lookupBatch });
    after = candidates.at(-1) ?? null;
    if (after === null) return removed;
    const noted = candidates.map(({ _id }) => _id);
    const used = await usedAmong(db, noted);
    await removeOrphanCandidates(db, [...used], before);
    for (const sha256 of noted) {
      signal?.throwIfAborted();
      if (!used.has(sha256) && (await removeUnused(db, store, sha256, before))) removed += 1;
    }
  }
}

async function removeUnused(db: Database, store: Store, sha256: string, before: Date): Promise<boolean> {
  const marked = performance.now();
  if (!(await leaseForDeletion(db, sha256, before))) return false;
  // Who noted it before it was marked may refer to it by now.
  const unused = !(await usedAmong(db, [sha256])).has(sha256);
  if (unused && performance.now() - marked > removeMilliseconds) return false;
  if (unused) await store.assets.delete(sha256);
  await removeOrphanCandidates(db, [sha256], before);
  return unused;
}

async function usedAmong(db: Database, sha256s: string[]): Promise<Set<string>> {
  const [media, widgets] = await Promise.all([
    assetsUsedByMedia(db, sha256s),
    assetsUsedByWidgets(db, sha256s),
  ]);
  return new Set([...media, ...widgets]);
}
