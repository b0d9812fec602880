import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { createExportQueue } from '../../shared/exports/queues.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Harness } from '../support/harness.ts';

type Installation = Pick<Harness, 'servers' | 'config'>;

/** Opens the queue until the end of the test, also on a Redis that fails. */
export function viewQueue({ servers, config }: Installation) {
  const redis = new Redis(servers.redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  return viewOf(createExportQueue(redis, config));
}

export type OpenQueue = Awaited<ReturnType<typeof openQueue>>;

/** Opens the queue until it is closed. */
export async function openQueue({ servers, config }: Installation) {
  const jobs = createExportQueue(await connectRedis(servers.redisUrl), config);
  const close = async () => {
    await jobs.close();
    jobs.redis.disconnect();
  };
  return { ...viewOf(jobs), close };
}

/** The export queue as an operator sees it. */
function viewOf(jobs: ExportQueue) {
  /** Returns the job keys of the events with a name, such as 'active', in order. */
  const happened = async (event: string) => {
    const events = await jobs.redis.xrange(jobs.toKey('events'), '-', '+');
    // Events are flat lists of names and values.
    const valueOf = (fields: string[], name: string) => fields[fields.indexOf(name) + 1];
    return events.flatMap(([, fields]) =>
      valueOf(fields, 'event') === event ? [valueOf(fields, 'jobId') ?? ''] : [],
    );
  };
  return {
    jobs,
    happened,
    /** Returns how often workers have started the job of a version. */
    starts: async (version: LessonVersion) =>
      (await happened('active')).filter((key) => key === exportJobOf(version).key).length,
    /** Returns the state of a version's job: prioritized (waiting), active, completed, failed... */
    state: (version: LessonVersion): Promise<string> => jobs.getJobState(exportJobOf(version).key),
    /** Moves the end of a job back in time, so that the test need not wait. */
    endedBefore: async (version: LessonVersion, milliseconds: number) => {
      const [seconds] = await jobs.redis.time();
      const endedAt = Number(seconds) * 1000 - milliseconds;
      await jobs.redis.hset(jobs.toKey(exportJobOf(version).key), 'endedAt', endedAt);
    },
  };
}
