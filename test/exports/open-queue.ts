import { createExportQueue } from '../../shared/exports/queues.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Harness } from '../support/harness.ts';

/** Opens the export queue of the test's harness. */
export interface OpenQueue {
  jobs: ExportQueue;
  /** Moves the end of a job back in time, so that the test need not wait. */
  endedBefore(version: LessonVersion, milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

export async function openQueue({
  servers,
  config,
}: Pick<Harness, 'servers' | 'config'>): Promise<OpenQueue> {
  const redis = await connectRedis(servers.redisUrl);
  const jobs = createExportQueue(redis, config);
  return {
    jobs,
    async endedBefore(version, milliseconds) {
      const [seconds] = await redis.time();
      await redis.hset(
        jobs.toKey(exportJobOf(version).key),
        'endedAt',
        Number(seconds) * 1000 - milliseconds,
      );
    },
    async close() {
      await jobs.close();
      redis.disconnect();
    },
  };
}
