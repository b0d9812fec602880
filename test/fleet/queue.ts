import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { createExportQueue } from '../../shared/exports/queues.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import type { Harness } from '../support/harness.ts';
import type { PublishedLesson } from './lessons.ts';

/** The export queue as an operator sees it. */
export interface QueueView {
  queue: ExportQueue;
  /** Returns the job keys of the events with a name, such as 'active', in order. */
  happened: (event: string) => Promise<string[]>;
  /** Returns how often workers started the job of a lesson. */
  starts: (lesson: PublishedLesson) => Promise<number>;
  /**
   * Simulates a thousand worker crashes on a lesson's job; BullMQ counts them as long as it keeps
   * the job.
   */
  stallOften: (lesson: PublishedLesson) => Promise<void>;
  /** Simulates this many starts of a lesson's job. */
  startOften: (lesson: PublishedLesson, count: number) => Promise<void>;
  /** Returns the state of a lesson's job: prioritized (waiting), active, completed, failed... */
  state: (lesson: PublishedLesson) => Promise<string>;
}

export function viewQueue(harness: Harness): QueueView {
  const redis = new Redis(harness.servers.redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  const queue = createExportQueue(redis, harness.config);
  const happened = async (event: string) => {
    const events = await redis.xrange(queue.toKey('events'), '-', '+');
    return events.flatMap(([, fields]) =>
      valueOf(fields, 'event') === event ? [valueOf(fields, 'jobId') ?? ''] : [],
    );
  };
  return {
    queue,
    happened,
    starts: async (lesson) => {
      const { key } = exportJobOf(lesson.version);
      return (await happened('active')).filter((started) => started === key).length;
    },
    stallOften: async (lesson) => {
      await redis.hincrby(queue.toKey(exportJobOf(lesson.version).key), 'stc', 1000);
    },
    startOften: async (lesson, count) => {
      await redis.hset(queue.toKey(exportJobOf(lesson.version).key), 'ats', count);
    },
    state: (lesson) => queue.getJobState(exportJobOf(lesson.version).key),
  };
}

/** Events are flat lists of names and values. */
function valueOf(fields: string[], name: string): string | undefined {
  return fields[fields.indexOf(name) + 1];
}
