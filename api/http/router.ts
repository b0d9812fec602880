import Router from '@koa/router';
import type { RequestState } from './context.ts';

/**
 * Returns a router whose routes are case-sensitive. By default, the library's routes match in any case, but the
 * middleware in front of them (credentials, limits, origins) does not where the prefix has no parameters:
 * "/API/SESSION" would reach a handler without passing it.
 *
 * @param prefix what all its paths begin with, such as "/api/lessons".
 */
export function createRouter(prefix = ''): Router<RequestState> {
  return new Router<RequestState>({ prefix, sensitive: true });
}

/** The library's regular expression for a path parameter. */
const parameter = '([^\\/]+)';
const perhapsEmpty = '([^\\/]*)';

/**
 * Lets the parameters in all paths of a router be empty, so that "/api/lessons//versions" reaches the endpoint, whose
 * own checks (credentials, limits, ids) then answer; a handler finds such a parameter undefined. By default the
 * library takes such a path for an unknown one.
 */
export function acceptEmptyParameters(router: Router<RequestState>): Router<RequestState> {
  for (const layer of router.stack) {
    layer.regexp = new RegExp(layer.regexp.source.replaceAll(parameter, perhapsEmpty), layer.regexp.flags);
  }
  return router;
}
