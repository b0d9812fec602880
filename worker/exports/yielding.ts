import { claimRoom, findSlotShares } from '../../shared/exports/slots.ts';
import type { QueueAccess } from '../../shared/exports/queue-access.ts';
import type { Builds } from './builds.ts';

const lookMs = 1_000;

/** Most builds take less: a build that has just begun is let finish, and none is restarted more often than this. */
const youngMs = 10_000;

/** What a test shortens. */
export interface GivingWayTimes {
  lookMs?: number;
  youngMs?: number;
}

/**
 * Keeps one organization from holding all slots while another has none. When this worker has no free slot, an
 * organization without a build under way waits, and another one has several, the latter's newest build goes back to
 * the queue and takes its next turn. What it downloaded stays in the cache. So an organization that is alone can use
 * every slot, and no slot is kept idle.
 *
 * @param slots builds at once in this worker.
 */
export function startGivingWay(
  queue: QueueAccess,
  builds: Builds,
  slots: number,
  times: GivingWayTimes = {},
): { stop(): void } {
  const oldMs = times.youngMs ?? youngMs;
  let looking = false;
  /** The job that had no slot at the last look: another worker may have been about to take it. */
  let starvedBefore: string | null = null;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      const starved = builds.size < slots ? null : await makeRoom(queue, builds, oldMs, starvedBefore);
      starvedBefore = starved;
    } catch {
      // Redis is away; the next look comes soon.
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), times.lookMs ?? lookMs);
  return { stop: () => clearInterval(timer) };
}

/** Returns the job that has no slot, null for none. */
async function makeRoom(
  queue: QueueAccess,
  builds: Builds,
  oldMs: number,
  starvedBefore: string | null,
): Promise<string | null> {
  const { held, starved } = await findSlotShares(queue);
  if (starved === null || starved !== starvedBefore) return starved;
  const shareOf = (organizationId: string) => held.get(organizationId) ?? 0;
  const [chosen] = builds
    .list()
    .filter(({ organizationId, ageMs }) => shareOf(organizationId) > 1 && ageMs >= oldMs)
    .sort((a, b) => shareOf(b.organizationId) - shareOf(a.organizationId) || a.ageMs - b.ageMs);
  if (chosen !== undefined && (await claimRoom(queue, starved))) builds.giveWay(chosen.key);
  return starved;
}
