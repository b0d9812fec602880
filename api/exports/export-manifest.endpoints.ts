import { Readable } from 'node:stream';
import type { RouterContext } from '@koa/router';
import { LecternError } from '../../shared/platform/errors.ts';
import { incompleteKey } from '../../shared/exports/jobs.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { archiveOrAccepted } from './respond-with-archive.ts';
import { authorizeExport } from './authorize.ts';
import { createExportManifest } from './export-manifest.ts';
import { ShortLine } from './bounded-queue.ts';
import { publicAddress } from '../http/public-url.ts';
import { retryAfterSeconds } from '../http/retry-after.ts';

/** How often an archive is asked for whose record is not found: it may just be replaced, or be lost. */
const tries = 3;

/** Manifests that a process makes at once: one of 66,000 files takes a second, and some hundred megabytes. */
const makesAtOnce = 2;

/** Requests that may wait for that: some seconds, where all are as large. */
const mostWaiting = 20;

/** manifest.json of a published version, with a signed address for each file (the contract's 4.6). */
export function sendExportManifest(
  deps: AppDependencies,
): (ctx: RouterContext<RequestState>) => Promise<void> {
  const line = new ShortLine({ atOnce: makesAtOnce, waiting: mostWaiting });
  return async (ctx) => {
    const authorized = await authorizeExport(deps, ctx);
    const { job } = authorized;
    for (let count = 0; count < tries; count += 1) {
      const archive = await archiveOrAccepted(ctx, deps, job);
      if (archive === null) return;
      try {
        const { signal } = ctx.state;
        const request = { ...authorized, base: publicAddress(ctx, deps.config), signal };
        const manifest = await line.run(signal, () => createExportManifest(deps, archive, request));
        if (manifest !== null) {
          ctx.set('Cache-Control', 'no-store');
          ctx.body = Readable.from(manifest);
          ctx.type = 'application/json';
          ctx.length = manifest.reduce((bytes, piece) => bytes + piece.length, 0);
          return;
        }
      } finally {
        await archive.close();
      }
      // Built anew it has one.
      if (count > 0)
        for (const key of [job.key, incompleteKey(job.key)]) await deps.store.archives.delete(key);
    }
    throw new LecternError('INTERNAL_ERROR', 'The archive has no record', { retryAfterSeconds });
  };
}
