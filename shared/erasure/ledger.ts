import type { LedgerEntry } from '../models/erasure.ts';
import type { NameSet } from '../storage/store.ts';

/*
 * The ledger of erasures says which learners' data were erased, and when, by pseudonym. MongoDB has the ledger, and the
 * store has a copy, because a restore of MongoDB brings back erased data together with an older ledger. Each file name
 * in the store is a complete entry.
 */

export async function addToLedger(names: NameSet, entry: LedgerEntry): Promise<void> {
  const { organizationId, pseudonym, requestedAt } = entry;
  await names.add(`${organizationId}.${requestedAt.getTime()}.${pseudonym}`);
}

/** Yields the entries of the store's copy. Other files in its folder are skipped. */
export async function* readLedger(names: NameSet): AsyncGenerator<LedgerEntry> {
  for await (const page of names.list()) {
    for (const name of page) {
      const [, organizationId, at, pseudonym] = /^([0-9a-f-]{36})\.(\d{1,15})\.([\w-]{43})$/.exec(name) ?? [];
      if (organizationId === undefined || pseudonym === undefined) continue;
      yield { organizationId, pseudonym, requestedAt: new Date(Number(at)) };
    }
  }
}
