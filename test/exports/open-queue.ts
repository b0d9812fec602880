import { createExportQueue } from '../../shared/exports/queues.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Harness } from '../support/harness.ts';

/** The export queue of a test's harness. */
export interface OpenQueue {
  jobs: ExportQueue;
  /** Returns the job keys of the events with a name, such as 'active', in order. */
  happened(event: string): Promise<string[]>;
  /** Returns how often workers have started the job of a version. */
  starts(version: LessonVersion): Promise<number>;
  /** Returns the state of a version's job: prioritized (waiting), active, completed, failed... */
  state(version: LessonVersion): Promise<string>;
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
  const happened = async (event: string) => {
    const events = await redis.xrange(jobs.toKey('events'), '-', '+');
    // Events are flat lists of names and values.
    const valueOf = (fields: string[], name: string) => fields[fields.indexOf(name) + 1];
    return events.flatMap(([, fields]) =>
      valueOf(fields, 'event') === event ? [valueOf(fields, 'jobId') ?? ''] : [],
    );
  };
  return {
    jobs,
    happened,
    starts: async (version) =>
      (await happened('active')).filter((key) => key === exportJobOf(version).key).length,
    state: (version) => jobs.getJobState(exportJobOf(version).key),
    async endedBefore(version, milliseconds) {
      const [seconds] = await redis.time();
      const endedAt = Number(seconds) * 1000 - milliseconds;
      await redis.hset(jobs.toKey(exportJobOf(version).key), 'endedAt', endedAt);
    },
    async close() {
      await jobs.close();
      redis.disconnect();
    },
  };
}
