import { endpoints } from '../../api/app.ts';

/** An endpoint: a method and the path as its router has it, such as "/api/public/lessons/:lessonId/session". */
export interface Route {
  method: string;
  path: string;
}

/** Returns the endpoints of the API. */
export function apiRoutes(): Route[] {
  return endpoints.map(({ method, path }) => ({ method: method.toUpperCase(), path }));
}
