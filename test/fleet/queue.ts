import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { exportJobOf } from '../../shared/jobs.ts';
import { createExportQueue } from '../../shared/queues.ts';
import type { ExportQueue } from '../../shared/queues.ts';
import type { Harness } from '../support/harness.ts';
import type { PublishedLesson } from './lessons.ts';

/** The export queue as an operator sees it. */
export interface QueueView {
  queue: ExportQueue;
  /** How often workers started the job of a lesson. */
  starts: (lesson: PublishedLesson) => Promise<number>;
  /** As if the workers of a lesson's job had died a thousand times; BullMQ counts that for as long as it keeps a job. */
  stallOften: (lesson: PublishedLesson) => Promise<void>;
  /** Where the job of a lesson is: waiting, active, completed, failed... */
  state: (lesson: PublishedLesson) => Promise<string>;
}

export function viewQueue(harness: Harness): QueueView {
  const redis = new Redis(harness.servers.redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  const queue = createExportQueue(redis, harness.config);
  return {
    queue,
    starts: async (lesson) => {
      const key = exportJobOf(lesson.version).key;
      const events = await redis.xrange(queue.toKey('events'), '-', '+');
      return events.filter(([, fields]) => isStart(fields, key)).length;
    },
    stallOften: async (lesson) => {
      await redis.hincrby(queue.toKey(exportJobOf(lesson.version).key), 'stc', 1000);
    },
    state: (lesson) => queue.getJobState(exportJobOf(lesson.version).key),
  };
}

/** Events are flat lists of names and values. */
function isStart(fields: string[], key: string): boolean {
  const value = (name: string) => fields[fields.indexOf(name) + 1];
  return value('event') === 'active' && value('jobId') === key;
}
