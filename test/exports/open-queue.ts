import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { forgetFailure } from '../../shared/exports/failures.ts';
import { ExportQueue } from '../../shared/exports/queues.ts';
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
  return viewOf(new ExportQueue(redis, config));
}

export type OpenQueue = Awaited<ReturnType<typeof openQueue>>;

/** Opens the queue until it is closed. */
export async function openQueue({ servers, config }: Installation) {
  const jobs = new ExportQueue(await connectRedis(servers.redisUrl), config);
  const close = async () => {
    await jobs.close();
    jobs.redis.disconnect();
  };
  return { ...viewOf(jobs), close };
}

/** The export queue as an operator sees it. */
function viewOf(jobs: ExportQueue) {
  /** Returns all jobs of a version, the oldest first. */
  const jobsOf = async (version: LessonVersion) => {
    const { key } = exportJobOf(version);
    const found = (await jobs.getJobs()).filter(({ data }) => data.key === key);
    return found.sort((a, b) => a.timestamp - b.timestamp);
  };
  const lastJob = async (version: LessonVersion) => (await jobsOf(version)).at(-1);
  return {
    jobs,
    jobsOf,
    lastJob,
    /** Returns how often workers have started jobs of a version. */
    starts: async (version: LessonVersion) =>
      (await jobsOf(version)).reduce((sum, { attemptsStarted }) => sum + attemptsStarted, 0),
    /** Returns the state of a version's last job: prioritized (waiting), active, completed, failed... */
    state: async (version: LessonVersion): Promise<string> =>
      (await (await lastJob(version))?.getState()) ?? 'unknown',
    /** Ends the time in which requests get the stored failure of a version. */
    endBackoff: (version: LessonVersion) => forgetFailure(jobs, exportJobOf(version).key),
  };
}
