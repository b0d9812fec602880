import type { Routes } from '../api-types.ts';
import { renewSession } from './session.ts';
import { t } from './text.ts';

export type Route = keyof Routes;
export type Result<R extends Route> = Routes[R]['result'];

export interface RequestOptions<R extends Route> {
  params?: Routes[R]['params'];
  query?: Routes[R]['query'];
  body?: Routes[R]['body'];
  headers?: Record<string, string>;
  /** In place of the route's: HEAD. */
  method?: string;
  signal?: AbortSignal;
}

/** The URL of this Lectern without a slash at its end. Files of the console are in `<base>/console/files/`. */
export const base = new URL('../..', import.meta.url).href.replace(/\/$/, '');

/** A failed request. Its message is for people. */
export class ApiError extends Error {
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** Such as NOT_FOUND. */
  readonly code: string;
  /** Null if the response does not name it. */
  readonly retryAfterSeconds: number | null;
  /** The JSON of the response. */
  readonly body: unknown;

  constructor(
    message: string,
    status: number,
    code: string,
    { retryAfterSeconds = null, body }: { retryAfterSeconds?: number | null; body?: unknown } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.body = body;
  }
}

/** Returns the URL of a route. Undefined query parameters, and empty ones, are left out. */
export function urlOf<R extends Route>(
  route: R,
  { params = {}, query = {} }: RequestOptions<R> = {},
): string {
  const path = route
    .slice(route.indexOf(' ') + 1)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent((params as Record<string, string>)[name] ?? ''),
    );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Record<string, string | number | undefined>))
    if (value !== undefined && value !== '') search.set(name, String(value));
  return `${base}${path}${search.size > 0 ? `?${search}` : ''}`;
}

/**
 * Sends a request. If the session has ended, the user logs in in a dialog and the request is sent again: what is on the
 * page stays.
 *
 * @throws {ApiError}
 */
export async function request<R extends Route>(
  route: R,
  options: RequestOptions<R> = {},
): Promise<Result<R>> {
  return (await send(route, options)).body as Result<R>;
}

/** Sends a request as {@link request} does, and also returns the status: 202 says that the result is not ready. */
export async function send<R extends Route>(
  route: R,
  options: RequestOptions<R> = {},
): Promise<{ status: number; body: unknown; headers: Headers }> {
  const isSession = route.endsWith(' /api/session');
  for (;;) {
    const { response, text } = await fetchOnce(route, options);
    if (response.status === 401 && !isSession && (await renewSession())) continue;
    const body = parsed(text);
    if (response.ok) return { status: response.status, body, headers: response.headers };
    const { error, code } = (body ?? {}) as { error?: string; code?: string };
    throw new ApiError(
      error ?? `${response.status} ${response.statusText}`,
      response.status,
      code ?? response.headers.get('Error-Code') ?? 'INTERNAL_ERROR',
      { retryAfterSeconds: Number(response.headers.get('Retry-After')) || null, body },
    );
  }
}

async function fetchOnce<R extends Route>(
  route: R,
  options: RequestOptions<R>,
): Promise<{ response: Response; text: string }> {
  const { body, signal, method = route.split(' ')[0] ?? 'GET' } = options;
  const url = urlOf(route, options);
  // URL parsers resolve such ids: the request would be another one.
  if (/\/\.{1,2}(?:[/?]|$)/.test(url)) throw new ApiError(t('error.dots'), 400, 'BAD_REQUEST');
  try {
    const response = await fetch(url, {
      method,
      credentials: 'same-origin',
      headers: {
        Accept: 'application/json',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ?? null,
    });
    // The connection may also break within the body.
    return { response, text: await response.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(String((error as Error).message), 0, 'NETWORK');
  }
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
