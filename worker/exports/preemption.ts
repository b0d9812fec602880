import { claimSlot, readSlotUsage } from '../../shared/exports/slots.ts';
import type { QueueAccess } from '../../shared/exports/queue-access.ts';
import type { Builds } from './builds.ts';

/** Tests shorten these times. */
export interface PreemptionTimes {
  pollIntervalMs?: number;
  /** Younger builds are not preempted, so none is restarted more often than this. Most builds take less. */
  minAgeMs?: number;
}

/**
 * Keeps one organization from holding all slots while another has none. The newest build of an organization with
 * several goes back to the queue when this worker has no free slot and an organization without a running build waits.
 * Its downloads stay in the cache. An organization that is alone can thus use every slot, and no slot stays idle.
 *
 * @param slots concurrent builds of this worker.
 */
export function startPreemption(
  queue: QueueAccess,
  builds: Builds,
  slots: number,
  { pollIntervalMs = 1_000, minAgeMs = 10_000 }: PreemptionTimes = {},
): { stop(): void } {
  let polling = false;
  /** The job without a slot at the last poll, which another worker may have been about to take. */
  let starvedBefore: string | null = null;
  const poll = async () => {
    if (polling) return;
    polling = true;
    try {
      const starved = builds.size < slots ? null : await freeSlot(queue, builds, minAgeMs, starvedBefore);
      starvedBefore = starved;
    } catch {
      // Redis is down; the next poll comes soon.
    } finally {
      polling = false;
    }
  };
  const timer = setInterval(() => void poll(), pollIntervalMs);
  return { stop: () => clearInterval(timer) };
}

/** Preempts a build for a job that was starved at the last poll too. Returns the starved job; null for none. */
async function freeSlot(
  queue: QueueAccess,
  builds: Builds,
  minAgeMs: number,
  starvedBefore: string | null,
): Promise<string | null> {
  const { held, starved } = await readSlotUsage(queue);
  if (starved === null || starved !== starvedBefore) return starved;
  const usageOf = (organizationId: string) => held.get(organizationId) ?? 0;
  const [chosen] = builds
    .list()
    .filter(({ organizationId, ageMs }) => usageOf(organizationId) > 1 && ageMs >= minAgeMs)
    .sort((a, b) => usageOf(b.organizationId) - usageOf(a.organizationId) || a.ageMs - b.ageMs);
  if (chosen !== undefined && (await claimSlot(queue, starved))) builds.preempt(chosen.key);
  return starved;
}
