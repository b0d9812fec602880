import { createHmac, hkdfSync } from 'node:crypto';
import type { AuditAnchor } from '../models/audit-anchor.ts';
import type { AuditBlock } from '../models/audit-block.ts';
import type { AuditEntry, NewAuditEntry } from './audit-entry.ts';

/*
 * The hash chain of an organization's audit log. A block's hash covers its entries and the hash of the block before it,
 * so a change, a removal or an insertion anywhere breaks the chain from there on. The hashes are HMACs with a key from
 * the key pepper: write access to MongoDB alone is not enough to compute the chain again.
 */

/** The end of a chain, to which the next block is chained. */
export interface ChainHead {
  sequence: number;
  hash: string;
  sealedAt: Date;
}

export const emptyChain: ChainHead = { sequence: 0, hash: '', sealedAt: new Date(0) };

/** Returns the key of the hashes. @param pepper the key pepper. */
export function auditKeyOf(pepper: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', pepper, '', 'lectern audit log', 32));
}

/** An entry that waits for the next block: its JSON, which takes less memory than objects, and what the block needs. */
export interface SerializedEntry {
  json: string;
  at: Date;
  /** The pseudonym of the learner that the entry is about; null if it is about none. */
  learner: string | null;
}

export function serializeEntry(entry: NewAuditEntry, at: Date): SerializedEntry {
  const json = JSON.stringify({ at: at.toISOString(), ...entry } satisfies AuditEntry);
  return { json, at, learner: entry.target?.type === 'learner' ? entry.target.id : null };
}

/** Returns the block with these entries after the head of a chain. @param now the time of this process. */
export function sealBlock(
  key: Uint8Array,
  organizationId: string,
  head: ChainHead,
  { entries, now }: { entries: readonly SerializedEntry[]; now: Date },
): Omit<AuditBlock, '_id'> {
  const times = [head.sealedAt, now, ...entries.map(({ at }) => at)];
  const learners = entries.flatMap(({ learner }) => learner ?? []);
  const block = {
    organizationId,
    sequence: head.sequence + 1,
    sealedAt: new Date(Math.max(...times.map((time) => time.getTime()))),
    entries: `[${entries.map(({ json }) => json).join(',')}]`,
    count: entries.length,
    learners: [...new Set(learners)],
    previousHash: head.hash,
  };
  return { ...block, hash: hashOf(key, block) };
}

function hashOf(key: Uint8Array, block: Omit<AuditBlock, '_id' | 'hash'>): string {
  const { organizationId, sequence, previousHash, sealedAt, learners, entries } = block;
  const text = [
    ...['block 1', organizationId, sequence, previousHash, sealedAt.toISOString()],
    ...[block.count, learners.join(' '), entries],
  ].join('\n');
  return createHmac('sha256', key).update(text).digest('hex');
}

/** Returns the anchor after which a chain goes on once the blocks up to `last` are pruned. */
export function sealAnchor(
  key: Uint8Array,
  organizationId: string,
  last: ChainHead,
  prunedAt: Date,
): AuditAnchor {
  const { sequence, hash, sealedAt } = last;
  const anchor = { _id: organizationId, sequence, hash, sealedAt, prunedAt };
  return { ...anchor, mac: macOf(key, anchor) };
}

function macOf(
  key: Uint8Array,
  { _id, sequence, hash, sealedAt, prunedAt }: Omit<AuditAnchor, 'mac'>,
): string {
  const text = ['anchor 1', _id, sequence, hash, sealedAt.toISOString(), prunedAt.toISOString()].join('\n');
  return createHmac('sha256', key).update(text).digest('hex');
}

/** Where a chain breaks, and how. */
export interface ChainFault {
  sequence: number;
  reason: string;
}

/** Checks an anchor; returns null if it is intact. */
export function anchorFault(key: Uint8Array, anchor: AuditAnchor): ChainFault | null {
  if (macOf(key, anchor) === anchor.mac) return null;
  return { sequence: anchor.sequence, reason: 'The record of the pruned blocks was changed.' };
}

/** Checks the next block of a chain; returns null if it is intact. */
export function blockFault(key: Uint8Array, head: ChainHead, block: AuditBlock): ChainFault | null {
  const { sequence } = block;
  const expected = head.sequence + 1;
  if (sequence !== expected) {
    const missing =
      sequence - 1 === expected ? `Block ${expected} is` : `Blocks ${expected} to ${sequence - 1} are`;
    return { sequence, reason: `${missing} missing.` };
  }
  if (block.hash !== hashOf(key, block)) return { sequence, reason: 'The block was changed.' };
  if (block.previousHash !== head.hash)
    return { sequence, reason: 'The block does not follow the one before it.' };
  return null;
}
