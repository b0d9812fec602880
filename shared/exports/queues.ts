import { Queue, QueueEvents } from 'bullmq';
import type { Job, JobState } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Config } from '../platform/config.ts';
import { archiveFormatName } from './jobs.ts';
import type { ExportJob, ExportResult } from './jobs.ts';
import { createWaitingRedis } from '../platform/redis.ts';

/** Releases that write other archives have queues of their own, so no worker gets a job that it cannot build. */
const queueName = `exports-${archiveFormatName.replaceAll('/', '-')}`;

/** How long operators see ended jobs, and how many of each kind at most. */
const keptSeconds = 24 * 3600;
const keptJobs = 10_000;

/** A job in the queue, or one that has ended. Its id begins with its export key, see {@link exportKeyOfJob}. */
export type QueuedExport = Job<ExportJob, ExportResult>;

/** The export queue. Only BullMQ reads and writes its keys; Lectern's own records have keys beside them. */
export class ExportQueue extends Queue<ExportJob, ExportResult> {
  readonly redis: Redis;
  readonly #prefix: string;

  /** @param name of the queue of another archive format. */
  constructor(redis: Redis, { redisPrefix }: Pick<Config, 'redisPrefix'>, name = queueName) {
    super(name, {
      connection: redis,
      prefix: redisPrefix,
      defaultJobOptions: {
        attempts: 2,
        // A failing build runs once in ten seconds, as it does when clients request it again (failures.ts).
        backoff: { type: 'fixed', delay: 10_000 },
        removeOnComplete: { age: keptSeconds, count: keptJobs },
        removeOnFail: { age: keptSeconds, count: keptJobs },
      },
    });
    this.redis = redis;
    this.#prefix = redisPrefix;
    // Failing commands reject by themselves; an 'error' event without a listener would end the process.
    this.on('error', () => undefined);
  }

  /** Returns the Redis key of a record of Lectern's, which BullMQ does not know. */
  ownKey(name: string): string {
    return `${this.#prefix}:export-${name}`;
  }

  /** Returns the job that waits or runs for an archive, with its state; null if there is none. */
  async findOpenJob(exportKey: string): Promise<{ job: QueuedExport; state: JobState | 'unknown' } | null> {
    const id = await this.getDeduplicationJobId(exportKey);
    const job = id === null ? undefined : await this.getJob(id);
    if (job === undefined) return null;
    const state = await job.getState();
    return ['completed', 'failed', 'unknown'].includes(state) ? null : { job, state };
  }

  /** Counts the worker processes that take jobs of this queue, by the names of their connections. */
  async countWorkers(): Promise<number> {
    return new Set((await this.getWorkers()).map(({ rawname }) => rawname)).size;
  }
}

/** Returns the export key of a job's id. */
export function exportKeyOfJob(jobId: string): string {
  return jobId.slice(0, jobId.indexOf('-'));
}

/** Returns the events of the export queue, on a separate connection that waits for Redis. */
export function createExportEvents(redisUrl: string, config: Pick<Config, 'redisPrefix'>): QueueEvents {
  const events = new QueueEvents(queueName, {
    connection: createWaitingRedis(redisUrl),
    prefix: config.redisPrefix,
  });
  events.on('error', () => undefined);
  return events;
}
