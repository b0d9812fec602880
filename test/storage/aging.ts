import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../shared/platform/errors.ts';
import type { FileUseDb } from '../../shared/models/file-use.ts';
import type { Copies, StoredCopy } from '../../shared/storage/store.ts';

const hourMs = 3_600_000;

/** Moves the last use of all copies in a folder to so many hours earlier, as if they had passed. */
export async function ageFolder(storeDir: string, copies: Copies, hours: number): Promise<void> {
  for (const { name } of await listAll(copies)) {
    const path = join(storeDir, 'v1', name);
    try {
      const time = new Date((await stat(path)).mtimeMs - hours * hourMs);
      await utimes(path, time, time);
    } catch (error) {
      // It was evicted since the listing.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** As {@link ageFolder}, for a bucket. */
export async function ageUses({ fileUses }: FileUseDb, hours: number): Promise<void> {
  const usedAt = { $subtract: ['$usedAt', hours * hourMs] };
  await fileUses.updateMany({}, [{ $set: { usedAt } }], { updatePipeline: true });
}

export async function listAll(copies: Copies): Promise<StoredCopy[]> {
  const found: StoredCopy[] = [];
  for await (const page of copies.list()) found.push(...page);
  return found;
}
