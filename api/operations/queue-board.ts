import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Middleware } from 'koa';
import { exportJobSchema, exportProgressSchema } from '../../shared/exports/jobs.ts';
import { exportProfiles, parseProfile } from '../../shared/exports/profiles.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';

/**
 * Returns Bull Board for the queue of exports. It throws all errors.
 *
 * @param paths.mount the path of its requests here
 * @param paths.page the path in the browser, which begins with that of PUBLIC_URL
 */
export function createQueueBoard(
  queue: ExportQueue,
  { mount, page }: { mount: string; page: string },
): Middleware {
  const exports = new BullMQAdapter(queue, {
    displayName: 'Exports',
    description: 'Archives to build',
  });
  exports.setFormatter('name', describeJob);
  exports.setFormatter('progress', describeProgress);
  const server = new KoaAdapter();
  server.setBasePath(page);
  createBullBoard({
    queues: [exports],
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Lectern' } },
  });
  // Bull Board would send the messages of errors to the client; Lectern logs them.
  server.setErrorHandler((error) => {
    throw error;
  });
  return server.registerPlugin({ mount });
}

/** Returns the archive's file name, which says more to an operator than a digest. */
function describeJob(job: { data?: unknown; name?: string }): string {
  const parsed = exportJobSchema.safeParse(job.data);
  const id = parsed.success ? parseProfile(parsed.data.profile).id : null;
  if (!parsed.success || id === null) return job.name ?? 'export';
  return exportProfiles[id].fileName(parsed.data);
}

/**
 * Returns the progress of `export-status`, plus the percentage that the board shows. BullMQ's progress is first the
 * number 0.
 */
function describeProgress(progress: unknown): object | number {
  const figures = exportProgressSchema.safeParse(progress).data;
  if (figures === undefined) return 0;
  return { progress: Math.floor((100 * figures.done) / figures.total), ...figures };
}
