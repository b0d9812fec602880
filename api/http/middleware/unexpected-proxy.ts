import type { Middleware } from 'koa';
import type { Config } from '../../../shared/platform/config.ts';
import type { Logger } from '../../../shared/platform/log.ts';
import { clientIp } from '../client-ip.ts';

/** Proxies add one of these to each request that they forward. */
const proxyHeaders = ['X-Forwarded-For', 'Forwarded'];

/**
 * Warns at the first request through a proxy while TRUST_PROXY is 0: all clients then share the proxy's IP address, so
 * one that guesses passwords locks out all others. It warns once per process and does not log the header's value,
 * because any client can send the header.
 */
export function warnOfProxies({ trustProxy }: Pick<Config, 'trustProxy'>, log: Logger): Middleware {
  let hasWarned = trustProxy > 0;
  return async (ctx, next) => {
    const header = hasWarned ? undefined : proxyHeaders.find((name) => ctx.get(name) !== '');
    if (header !== undefined) {
      hasWarned = true;
      log.warn(
        { header, from: clientIp(ctx) },
        `A request has the header ${header}, but TRUST_PROXY is 0: clients behind a proxy share its IP address, so ` +
          'one of them can use up the request and login limits of all, and lock the queue board. Set ' +
          'TRUST_PROXY to the number of proxies in front of the API. If there is none, a client sent the header ' +
          'itself: leave TRUST_PROXY at 0.',
      );
    }
    await next();
  };
}
