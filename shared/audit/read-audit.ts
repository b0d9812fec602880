import { findAnchor, saveAnchor } from '../models/audit-anchor.ts';
import {
  deleteBlocksUpTo,
  findLastBlockBefore,
  findSequenceSince,
  listAuditedOrganizations,
  listBlocks,
} from '../models/audit-block.ts';
import type { AuditBlock } from '../models/audit-block.ts';
import { anchorFault, auditKeyOf, blockFault, emptyChain, sealAnchor } from './audit-chain.ts';
import type { ChainFault, ChainHead } from './audit-chain.ts';
import type { AuditDb } from './audit-log.ts';
import type { AuditEntry } from './audit-entry.ts';

/** How long entries are kept. */
export const auditRetentionDays = 400;

const dayMs = 24 * 3600_000;

/** The number of blocks per query, each of up to 1 MB. */
const batchSize = 10;

/** The position of an entry: its block, and its index in the block. */
export interface AuditPosition {
  sequence: number;
  index: number;
}

/** Selects entries. A learner is a pseudonym. */
export interface AuditSelection {
  since?: Date | undefined;
  until?: Date | undefined;
  action?: string | undefined;
  actorId?: string | undefined;
  learner?: string | undefined;
}

export type PlacedEntry = AuditEntry & { position: AuditPosition };

/** Yields an organization's entries in the order of the chain. @param after the last entry of the previous page. */
export async function* readAudit(
  db: AuditDb,
  organizationId: string,
  { since, learner, ...selection }: AuditSelection,
  after: AuditPosition | null = null,
): AsyncGenerator<PlacedEntry> {
  const first = since === undefined ? 1 : await findSequenceSince(db, organizationId, since);
  if (first === null) return;
  let from = Math.max(first, after?.sequence ?? 0);
  for (;;) {
    const blocks = await listBlocks(db, organizationId, { from, limit: batchSize, learner });
    for (const block of blocks) {
      const entries = JSON.parse(block.entries) as AuditEntry[];
      for (const [index, entry] of entries.entries()) {
        const position = { sequence: block.sequence, index };
        if (isAfter(position, after) && matches(entry, { ...selection, since, learner }))
          yield { ...entry, position };
      }
    }
    const last = blocks.at(-1);
    if (last === undefined || isPast(last, selection.until)) return;
    from = last.sequence + 1;
  }
}

function isAfter({ sequence, index }: AuditPosition, after: AuditPosition | null): boolean {
  return after === null || sequence > after.sequence || (sequence === after.sequence && index > after.index);
}

/** Returns whether no later block can have an entry from before a time. Entries reach the chain well within a day. */
function isPast({ sealedAt }: AuditBlock, until: Date | undefined): boolean {
  return until !== undefined && sealedAt.getTime() > until.getTime() + dayMs;
}

function matches(entry: AuditEntry, selection: AuditSelection): boolean {
  const { since, until, action, actorId, learner } = selection;
  const at = Date.parse(entry.at);
  if (since !== undefined && at < since.getTime()) return false;
  if (until !== undefined && at >= until.getTime()) return false;
  if (action !== undefined && entry.action !== action) return false;
  if (actorId !== undefined && entry.actor.id !== actorId) return false;
  return learner === undefined || (entry.target?.type === 'learner' && entry.target.id === learner);
}

/** The result of checking a chain. */
export interface AuditVerification {
  blocks: number;
  entries: number;
  /** The last block that was pruned; null if none was. */
  pruned: { sequence: number; sealedAt: Date } | null;
  /** The end of the intact part of the chain. */
  head: ChainHead;
  fault: ChainFault | null;
}

/**
 * Checks an organization's chain from its first block to its last.
 *
 * @param expected a head that was noted earlier: the chain must still contain it. Without one, missing
 * blocks at the end stay unnoticed.
 */
export async function verifyAudit(
  db: AuditDb,
  pepper: string,
  organizationId: string,
  expected: Pick<ChainHead, 'sequence' | 'hash'> | null = null,
): Promise<AuditVerification> {
  const key = auditKeyOf(pepper);
  const anchor = await findAnchor(db, organizationId);
  const pruned = anchor && { sequence: anchor.sequence, sealedAt: anchor.sealedAt };
  let head: ChainHead = anchor ?? emptyChain;
  let [blocks, entries] = [0, 0];
  const result = (fault: ChainFault | null) => ({ blocks, entries, pruned, head: headOf(head), fault });
  const changed = anchor && anchorFault(key, anchor);
  if (changed !== null) return result(changed);
  let isExpectedSeen = expected === null || expected.sequence <= head.sequence;
  for (;;) {
    const batch = await listBlocks(db, organizationId, { from: head.sequence + 1, limit: batchSize });
    for (const block of batch) {
      const fault = blockFault(key, head, block);
      if (fault !== null) return result(fault);
      head = block;
      blocks += 1;
      entries += block.count;
      if (block.sequence !== expected?.sequence) continue;
      isExpectedSeen = true;
      if (block.hash !== expected.hash)
        return result({ sequence: block.sequence, reason: 'The block is another one than expected.' });
    }
    if (batch.length === 0) break;
  }
  if (isExpectedSeen || expected === null) return result(null);
  return result({ sequence: expected.sequence, reason: 'The newest blocks are missing.' });
}

function headOf({ sequence, hash, sealedAt }: ChainHead): ChainHead {
  return { sequence, hash, sealedAt };
}

/**
 * Deletes blocks that are older than {@link auditRetentionDays}. The anchor is stored first, so the rest of the chain
 * can be checked at any time, even after a crash in between.
 *
 * @returns the number of deleted blocks.
 */
export async function pruneAudit(db: AuditDb, pepper: string, now = new Date()): Promise<number> {
  const key = auditKeyOf(pepper);
  const before = new Date(now.getTime() - auditRetentionDays * dayMs);
  let count = 0;
  for (const organizationId of await listAuditedOrganizations(db)) {
    const last = await findLastBlockBefore(db, organizationId, before);
    if (last === null) continue;
    await saveAnchor(db, sealAnchor(key, organizationId, last, now));
    count += await deleteBlocksUpTo(db, organizationId, last.sequence);
  }
  return count;
}
