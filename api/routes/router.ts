import Router from '@koa/router';
import type { RequestState } from '../context.ts';

/**
 * A router that takes a path as it is written, in these letters alone. By default the library's routes match in any
 * case, but the middleware in front of them (credentials, limits, origins) does not where the prefix has no
 * parameters: "/API/SESSION" would reach a handler without passing it.
 *
 * @param prefix what all its paths begin with, such as "/api/lessons".
 */
export function createRouter(prefix = ''): Router<RequestState> {
  return new Router<RequestState>({ prefix, sensitive: true });
}
