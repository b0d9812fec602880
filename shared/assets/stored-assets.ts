import { setTimeout as delay } from 'node:timers/promises';
import {
  removeOrphanCandidates,
  listOrphanCandidates,
  leaseForDeletion,
  addOrphanCandidate,
} from '../models/orphan-candidate.ts';
import type { OrphanCandidate } from '../models/orphan-candidate.ts';
import type { Database } from '../models/database.ts';
import { assetsUsedByLibraries } from '../models/library-file.ts';
import { assetsUsedByMedia } from '../models/medium.ts';
import { assetsUsedByThemes } from '../models/theme.ts';
import { assetsUsedByWidgets } from '../models/widget-release.ts';
import type { Digest, Store } from '../storage/store.ts';

/** The poll interval while another process removes the file, which takes milliseconds. */
const pollIntervalMs = 50;

/** Orphan candidates per query. */
const batchSize = 500;

/** A removal must begin within this time of taking its lease: after that, other processes may use the file again. */
const removalTimeoutMs = 10_000;

/*
 * A file's name is its digest, so several imports may store the same file: one that fails, and one that has not yet
 * recorded its reference. Each store operation therefore makes the file an orphan candidate. A day later, a sweep
 * removes candidates without a reference. MongoDB serializes both steps: a renewed candidate gets no deletion lease,
 * and an import waits while a leased file is removed.
 */

/**
 * Stores an upload or a file of a widget. Unless something refers to it within a day, a sweep removes it.
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

/** Makes files orphan candidates: in a day, a sweep removes those without a reference. */
export async function addOrphanCandidates(db: Database, sha256s: Iterable<string>): Promise<void> {
  for (const sha256 of new Set(sha256s)) {
    while (!(await addOrphanCandidate(db, sha256))) await delay(pollIntervalMs);
  }
}

/**
 * Removes orphan candidates older than `olderThanSeconds` that nothing refers to. Any number of processes may call it.
 *
 * @param signal ends it early.
 * @returns the number of removed files.
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
    const candidates = await listOrphanCandidates(db, { before, after, limit: batchSize });
    after = candidates.at(-1) ?? null;
    if (after === null) return removed;
    const sha256s = candidates.map(({ _id }) => _id);
    const used = await usedAmong(db, sha256s);
    await removeOrphanCandidates(db, [...used], before);
    for (const sha256 of sha256s) {
      signal?.throwIfAborted();
      if (!used.has(sha256) && (await removeUnused(db, store, sha256, before))) removed += 1;
    }
  }
}

async function removeUnused(db: Database, store: Store, sha256: string, before: Date): Promise<boolean> {
  const marked = performance.now();
  if (!(await leaseForDeletion(db, sha256, before))) return false;
  // An import that stored it before this lease may have recorded its reference since.
  const unused = !(await usedAmong(db, [sha256])).has(sha256);
  if (unused && performance.now() - marked > removalTimeoutMs) return false;
  if (unused) await store.assets.delete(sha256);
  await removeOrphanCandidates(db, [sha256], before);
  return unused;
}

async function usedAmong(db: Database, sha256s: string[]): Promise<Set<string>> {
  const used = await Promise.all(
    [assetsUsedByMedia, assetsUsedByLibraries, assetsUsedByWidgets, assetsUsedByThemes].map((find) =>
      find(db, sha256s),
    ),
  );
  return new Set(used.flat());
}
