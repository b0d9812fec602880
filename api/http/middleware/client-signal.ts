import type { Middleware } from 'koa';
import { onAbort } from '../../../shared/platform/abort-listeners.ts';

/**
 * Gives handlers a signal that is aborted when the client disconnects, so that no work continues for it, and when this
 * process ends.
 *
 * @param stopping aborted when the process is to end; with the error that a waiting client is answered with.
 */
export function clientSignal(stopping: AbortSignal): Middleware {
  return async (ctx, next) => {
    const gone = new AbortController();
    ctx.state.signal = gone.signal;
    // Not AbortSignal.any: on Node 20 a signal that lives as long as the process keeps something of every other.
    const stopListening = onAbort(stopping, () => gone.abort(stopping.reason));
    ctx.res.once('close', () => {
      stopListening();
      gone.abort(new Error('the client is gone'));
    });
    await next();
  };
}
