import { onAbort } from '../../../shared/platform/abort-listeners.ts';
import type { StatefulMiddleware } from '../context.ts';

/**
 * Sets `ctx.state.signal`, which is aborted when the client disconnects or the process shuts down, so that handlers
 * stop working for it.
 *
 * @param stopping aborted at shutdown; its reason is the error that waiting clients get.
 */
export function clientSignal(stopping: AbortSignal): StatefulMiddleware {
  return async (ctx, next) => {
    const ending = new AbortController();
    ctx.state.signal = ending.signal;
    // AbortSignal.any would leak on Node 20: a signal of the whole process keeps data of every other.
    const stopListening = onAbort(stopping, () => ending.abort(stopping.reason));
    ctx.res.once('close', () => {
      stopListening();
      ending.abort(new Error('the client disconnected'));
    });
    await next();
  };
}
