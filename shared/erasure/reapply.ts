import type { AuditLog } from '../audit/audit-log.ts';
import { listErasures } from '../models/erasure.ts';
import type { LedgerEntry } from '../models/erasure.ts';
import { areNone, countRecords, listLearners } from '../models/learner-records.ts';
import { pseudonymOf } from '../tokens/learner-subject.ts';
import type { LearnerSubject } from '../tokens/learner-subject.ts';
import { addToLedger, auditedErasure, finishErasure, readLedger, requestErasure } from './erase.ts';
import type { ErasureDependencies } from './erase.ts';

export interface ReapplyDependencies extends ErasureDependencies {
  audit: Pick<AuditLog, 'recordNow'>;
}

/** The last erasure of each learner: by organization, and then by pseudonym. */
type Ledger = Map<string, Map<string, Date>>;

/**
 * Erases again what a restored backup has brought back: records that are not newer than their learner's last erasure.
 * Newer records stay.
 *
 * @returns how many erasures there are in the ledger, and how many learners' records were erased again.
 */
export async function reapplyErasures(
  deps: ReapplyDependencies,
): Promise<{ erasures: number; reapplied: number }> {
  const ledger: Ledger = new Map();
  let erasures = 0;
  const stored = new Set<string>();
  for await (const entry of readLedger(deps.store.erasures)) {
    stored.add(nameOf(entry));
    note(ledger, entry);
  }
  for await (const entry of listErasures(deps.db)) {
    note(ledger, entry);
    if (!stored.has(nameOf(entry))) await addToLedger(deps.store.erasures, entry);
  }
  let reapplied = 0;
  for (const [organizationId, times] of ledger) {
    erasures += times.size;
    reapplied += await reapplyIn(deps, organizationId, times);
  }
  return { erasures, reapplied };
}

function nameOf({ pseudonym, requestedAt }: LedgerEntry): string {
  return `${requestedAt.getTime()} ${pseudonym}`;
}

function note(ledger: Ledger, { organizationId, pseudonym, requestedAt }: LedgerEntry): void {
  const times = ledger.get(organizationId) ?? new Map<string, Date>();
  ledger.set(organizationId, times);
  const known = times.get(pseudonym);
  if (known === undefined || known < requestedAt) times.set(pseudonym, requestedAt);
}

async function reapplyIn(
  deps: ReapplyDependencies,
  organizationId: string,
  times: ReadonlyMap<string, Date>,
): Promise<number> {
  const found = new Map<string, LearnerSubject>();
  for await (const learner of listLearners(deps.db, organizationId)) {
    const pseudonym = pseudonymOf(deps.pepper, learner);
    if (times.has(pseudonym)) found.set(pseudonym, learner);
  }
  let count = 0;
  for (const [pseudonym, learner] of found) {
    const at = times.get(pseudonym) as Date;
    if (areNone(await countRecords(deps.db, learner, at))) continue;
    const erasure = await requestErasure(deps, learner, { requestedAt: at, until: at });
    await deps.audit.recordNow(organizationId, {
      action: 'learner.erase',
      actor: { type: 'system', id: 'ledger' },
      target: { type: 'learner', id: pseudonym },
      details: auditedErasure(erasure),
      ...{ ip: null, requestId: null },
    });
    await finishErasure({ ...deps, settleMs: 0 }, erasure, { wait: () => Promise.resolve() });
    count += 1;
  }
  return count;
}
