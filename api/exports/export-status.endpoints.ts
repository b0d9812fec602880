import { Readable } from 'node:stream';
import type { RouterContext } from '@koa/router';
import { LecternError } from '../../shared/platform/errors.ts';
import { requestCancel } from '../../shared/exports/cancel.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { authorizeExport } from './authorize.ts';
import { isFinal, readExportStatus } from './export-status.ts';
import { statusEvents } from './status-events.ts';

const eventStream = 'text/event-stream';

/** Where the export of a version is: once, in JSON, or as it goes on, in Server-Sent Events. */
export function sendExportStatus(deps: AppDependencies): (ctx: RouterContext<RequestState>) => Promise<void> {
  return async (ctx) => {
    const { job } = await authorizeExport(deps, ctx);
    const status = await readExportStatus(deps.exports, job);
    ctx.set('Cache-Control', 'no-store');
    ctx.vary('Accept');
    if (ctx.accepts('application/json', eventStream) !== eventStream) {
      ctx.body = status;
      return;
    }
    if (isFinal(status) && ctx.get('Last-Event-ID') === status.status) {
      // An EventSource connects anew for ever, unless it is told that there is nothing more to hear.
      ctx.status = 204;
      return;
    }
    const endWait = deps.exports.openWaits.begin(job.organizationId);
    const signal = ctx.state.signal;
    // Koa destroys it with the answer, also where nothing of it was read.
    ctx.body = Readable.from(statusEvents(deps.exports, job, { first: status, signal })).once(
      'close',
      endWait,
    );
    ctx.type = eventStream;
    // nginx would keep events back until there are many.
    ctx.set('X-Accel-Buffering', 'no');
  };
}

/** Ends the build of an archive that nobody waits for. What is in the store stays there. */
export function cancelExport(deps: AppDependencies): (ctx: RouterContext<RequestState>) => Promise<void> {
  return async (ctx) => {
    const { job } = await authorizeExport(deps, ctx);
    const outcome = await requestCancel(deps.queue, job.key);
    if (outcome === 'wanted') throw new LecternError('CONFLICT', 'Somebody waits for this export');
    ctx.set('Cache-Control', 'no-store');
    if (outcome === 'stopping') ctx.body = await readExportStatus(deps.exports, job);
    ctx.status = outcome === 'stopping' ? 202 : 204;
  };
}
