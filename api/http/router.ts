import Router from '@koa/router';
import type { Middleware } from 'koa';
import { LecternError } from '../../shared/platform/errors.ts';
import type { RequestState } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { apiErrors } from './error-format.ts';

const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Adds the routes of endpoints to a router. Endpoints of one path must share their error format. Other methods on the
 * path run the middleware of the first one's access, and then get 405.
 */
export function addEndpoints<Deps>(
  router: Router<RequestState>,
  endpoints: readonly Endpoint<Deps>[],
  deps: Deps,
): void {
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    const group = endpoints.filter((endpoint) => endpoint.path === path);
    const [{ access, errors }] = group as [Endpoint<Deps>];
    if (group.some((other) => other.errors !== errors)) {
      throw new Error(`the endpoints of ${path} must share their error format`);
    }
    // The application itself renders errors in the common format.
    const renderErrors = errors === apiErrors() ? [] : [errors.render(deps)];
    const methods = group.flatMap(({ method }) =>
      method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase(),
    );
    const allowed = methodOrder
      .filter((method) => methods.includes(method) || (method === 'OPTIONS' && access.preflight))
      .join(', ');
    const chains = new Map(
      group
        .map((endpoint) => endpoint.access)
        .map((one) => [one, [...renderErrors, ...one.middleware(deps, allowed)]]),
    );
    const chainOf = (one: typeof access) => chains.get(one) ?? [];
    for (const endpoint of group)
      router[endpoint.method](path, ...chainOf(endpoint.access), endpoint.createHandler(deps));
    router.all(path, ...chainOf(access), methodNotAllowed(allowed));
  }
}

/** @param allowed the methods of the path, such as "GET, HEAD". */
function methodNotAllowed(allowed: string): Middleware {
  return (ctx) => {
    ctx.set('Allow', allowed);
    throw new LecternError('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here`);
  };
}

/**
 * Returns a router with case-sensitive routes. By default, routes match in any case but middleware sometimes does not:
 * "/API/SESSION" would bypass credentials, limits and CORS.
 */
export function createRouter(): Router<RequestState> {
  return new Router<RequestState>({ sensitive: true });
}

/** The library's regular expression for a path parameter. */
const parameter = '([^\\/]+)';
const optionalParameter = '([^\\/]*)';

/**
 * Lets path parameters be empty: "/api/lessons//versions" reaches the endpoint, whose checks (credentials, limits, ids)
 * reject it. The handler gets such a parameter as undefined. By default, the library treats the path as unknown.
 */
export function acceptEmptyParameters(router: Router<RequestState>): Router<RequestState> {
  for (const layer of router.stack) {
    layer.regexp = new RegExp(
      layer.regexp.source.replaceAll(parameter, optionalParameter),
      layer.regexp.flags,
    );
  }
  return router;
}
