import type Router from '@koa/router';

/** An endpoint: a method, and the path as its router has it, such as "/api/public/lessons/:lessonId/session". */
export interface Route {
  method: string;
  path: string;
}

/** More methods than any endpoint takes: what answers that a method is not allowed is registered for all there are. */
const everyMethod = 10;

/** The endpoints of routers, in their order. HEAD, which comes with each GET, is left out. */
export function routesOf<State, Custom>(routers: readonly Router<State, Custom>[]): Route[] {
  return routers
    .flatMap((router) => router.stack)
    .filter(({ methods }) => methods.length < everyMethod)
    .flatMap(({ methods, path }) => methods.map((method) => ({ method, path: String(path) })))
    .filter(({ method }) => method !== 'HEAD');
}
