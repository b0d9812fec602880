import { createHash, randomUUID } from 'node:crypto';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import type { ExportJob, ExportResult } from '../../shared/exports/jobs.ts';
import { ExportQueue } from '../../shared/exports/queues.ts';
import type { QueuedExport } from '../../shared/exports/queues.ts';
import type { Harness } from '../support/harness.ts';

export const lockToken = 'of the test';

/** Returns a job of the organization "a" for the names "a1", "a2"... */
export function jobNamed(name: string): ExportJob {
  const key = `x${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
  const organizationId = name.replace(/\d+$/, '');
  const ids = { lessonId: 'lesson', versionId: 'version' };
  return { key, organizationId, ...ids, slug: name, versionNumber: 1, profile: 'plain' };
}

export type TestQueue = ReturnType<typeof openTestQueue>;

/** Creates a queue for one test, which starts and ends its jobs one by one. */
export function openTestQueue(harness: Pick<Harness, 'config' | 'servers'>) {
  const redisPrefix = `${harness.config.redisPrefix}-${randomUUID()}`;
  const redis = new Redis(harness.servers.redisUrl, { maxRetriesPerRequest: null });
  const queue = new ExportQueue(redis, { redisPrefix });
  const worker = new Worker<ExportJob, ExportResult>(queue.name, null, {
    connection: redis,
    prefix: redisPrefix,
  });
  onTestFinished(async () => {
    await worker.close();
    await queue.close();
    redis.disconnect();
  });
  /** Starts the next job; its lock has the {@link lockToken}. Undefined when none waits. */
  const startJob = async () =>
    (await worker.getNextJob(lockToken, { block: false })) as QueuedExport | undefined;
  /** Starts the next job and returns its name; null when none waits. */
  const start = async () => {
    const job = await startJob();
    return job?.data.slug ?? null;
  };
  return {
    ...{ queue, redis, redisPrefix, startJob, start },
    /** Returns the names of all waiting jobs in starting order. */
    startAll: async () => {
      const names: string[] = [];
      for (let name = await start(); name !== null; name = await start()) names.push(name);
      return names;
    },
  };
}

/** Requests the archives of these jobs for readers, one after the other. */
export async function enqueue({ queue }: TestQueue, ...names: string[]): Promise<void> {
  for (const name of names) await enqueueExport(queue, jobNamed(name));
}

/** Returns the names of an organization's first jobs. */
export function namesOf(organization: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${organization}${index + 1}`);
}
