import { findCancelled } from '../../shared/exports/cancel.ts';
import type { QueueAccess } from '../../shared/exports/queue-access.ts';
import type { Builds } from './builds.ts';

/** Looked for instead of listened to: a worker that takes a job over, or reconnects, misses no request. */
const lookMilliseconds = 1_000;

/** Cancels builds under way that somebody wants cancelled, within a second or so. */
export function startCancelling(queue: QueueAccess, builds: Builds): { stop(): void } {
  let looking = false;
  const look = async () => {
    if (looking || builds.size === 0) return;
    looking = true;
    try {
      for (const key of await findCancelled(queue, builds.keys())) builds.cancel(key);
    } catch {
      // Redis is away; the next look comes soon.
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), lookMilliseconds);
  return { stop: () => clearInterval(timer) };
}
