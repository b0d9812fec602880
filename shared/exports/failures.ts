import { z } from 'zod';
import { exportProgressSchema } from './jobs.ts';
import type { ExportQueue } from './queues.ts';

/** How long requests get a failure before another build begins. */
const backoffMs = 10_000;
/** How long the status shows it. */
const keptMs = 24 * 3_600_000;

const failureSchema = z.object({ reason: z.string(), progress: exportProgressSchema });

/** Why the last build of an archive failed, and how far it got. */
export type ExportFailure = z.output<typeof failureSchema>;

/** Stores the failure of an archive's last build. A worker does so before its job ends, so that no request misses it. */
export async function saveFailure(queue: ExportQueue, key: string, failure: ExportFailure): Promise<void> {
  await queue.redis.set(failureKey(queue, key), JSON.stringify(failure), 'PX', keptMs);
}

/** Returns the failure of an archive's last build, and whether it is too recent for another one; null if there is none. */
export async function readFailure(
  queue: ExportQueue,
  key: string,
): Promise<(ExportFailure & { isRecent: boolean }) | null> {
  const stored = failureKey(queue, key);
  const [text, leftMs] = await Promise.all([queue.redis.get(stored), queue.redis.pttl(stored)]);
  if (text === null) return null;
  // Measured by Redis, because the clocks of the processes may differ.
  return { ...failureSchema.parse(JSON.parse(text)), isRecent: leftMs > keptMs - backoffMs };
}

/** Forgets the last failure, when a build begins or an export is canceled. */
export async function forgetFailure(queue: ExportQueue, key: string): Promise<void> {
  await queue.redis.del(failureKey(queue, key));
}

function failureKey(queue: ExportQueue, key: string): string {
  return queue.ownKey(`failure:${key}`);
}
