import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Middleware } from 'koa';
import { exportJobSchema, exportProgressSchema } from '../shared/jobs.ts';
import type { ExportQueue } from '../shared/queues.ts';

/** Bull Board over the queue, with its page at `basePath`; it throws what goes wrong. */
export function createQueueBoard(queue: ExportQueue, basePath: string): Middleware {
  const adapter = new BullMQAdapter(queue, { displayName: 'Exports', description: 'Archives to build' });
  adapter.setFormatter('name', describeJob);
  adapter.setFormatter('progress', describeProgress);
  const server = new KoaAdapter();
  server.setBasePath(basePath);
  createBullBoard({
    queues: [adapter],
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Lectern' } },
  });
  // It would answer with the message of any error; those are for the log, and rendered as all others are.
  server.setErrorHandler((error) => {
    throw error;
  });
  return server.registerPlugin();
}

/** "biology-v3" says more to an operator than a digest. */
function describeJob(job: { data?: unknown; name?: string }): string {
  const parsed = exportJobSchema.safeParse(job.data);
  return parsed.success ? `${parsed.data.slug}-v${parsed.data.versionNumber}.zip` : (job.name ?? 'export');
}

/**
 * The figures of `export-status`, and what the board makes a ring of: percent of the files. BullMQ starts with the
 * number 0.
 */
function describeProgress(progress: unknown): object | number {
  const figures = exportProgressSchema.safeParse(progress).data;
  if (figures === undefined) return 0;
  return { progress: Math.floor((100 * figures.done) / figures.total), ...figures };
}
