import { connect } from 'node:net';
import { expect } from 'vitest';
import type { Answer } from '../openapi/openapi-checks.ts';
import { checkDocumented } from './documented.ts';

export type { Answer };

export type AskOptions = Pick<RequestInit, 'method' | 'headers' | 'body' | 'signal'>;

/**
 * Sends a request and reads the whole response. The test fails if the response never ends, or if Lectern's OpenAPI
 * document lacks it.
 */
export async function ask(url: string, options: AskOptions = {}): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(60_000), ...options });
  const { status, headers } = response;
  const answer = { status, headers, body: Buffer.from(await response.arrayBuffer()) };
  if (headers.has('x-request-id')) checkDocumented(url, options.method ?? 'GET', answer);
  return answer;
}

/** Returns a function that sends requests to an API, with a JSON body if one is given. */
export function senderOf(api: { readonly url: string }) {
  return (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    json?: object,
  ): Promise<Answer> =>
    ask(api.url + path, {
      method,
      headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
      ...(json && { body: JSON.stringify(json) }),
    });
}

export function jsonOf(answer: Answer): unknown {
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return JSON.parse(answer.body.toString('utf8'));
}

interface ExportFailure {
  status: number;
  code: string;
  error: string;
  message: string;
}

/** The export errors whose message is always the same. */
export const unauthorized: ExportFailure = {
  status: 401,
  code: 'UNAUTHORIZED',
  error: 'Authentication Error',
  message: 'User authentication is required',
};
export const forbidden: ExportFailure = {
  status: 403,
  code: 'FEATURE_NOT_AVAILABLE',
  error: 'Forbidden',
  message: 'Export is not available on your plan',
};
export const notFound: ExportFailure = {
  status: 404,
  code: 'NOT_FOUND',
  error: 'Not Found',
  message: 'Published version not found',
};
export const internalError: ExportFailure = {
  status: 500,
  code: 'INTERNAL_ERROR',
  error: 'Internal Server Error',
  message: 'An unexpected error occurred while generating the export',
};

/** Asserts an export error: exactly these four fields, a fresh timestamp, and nothing of an archive. */
export function expectFailure(answer: Answer, failure: ExportFailure): void {
  const { status, ...fields } = failure;
  const body = jsonOf(answer) as { timestamp: string };
  expect({ status: answer.status, body }).toEqual({
    status,
    body: {
      ...fields,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    },
  });
  expect(answer.headers.get('error-code')).toBe(fields.code);
  expect(Math.abs(Date.now() - Date.parse(body.timestamp))).toBeLessThan(60_000);
  expect(Number(answer.headers.get('content-length'))).toBe(answer.body.length);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(challengeOf(answer)).toBe(status === 401 ? 'Bearer realm="Lectern"' : undefined);
  for (const name of ['etag', 'content-disposition', 'accept-ranges'])
    expect(answer.headers.get(name)).toBeNull();
}

/** The WWW-Authenticate challenge of a 401, without the reason. */
export function challengeOf(answer: Answer): string | undefined {
  return answer.headers.get('www-authenticate')?.split(',')[0];
}

/** Asserts an API error: a text, and a code in the header and, except in {@link textErrors}, in the body. */
export function expectError(answer: Answer, status: number, error: string): void {
  const code = answer.headers.get('error-code');
  const { code: inBody = code, ...body } = jsonOf(answer) as { code?: unknown };
  expect({ status: answer.status, body }).toEqual({ status, body: { error } });
  expect(code).toMatch(/^[A-Z_]+$/);
  expect(inBody).toBe(code);
  expect(Number(answer.headers.get('content-length'))).toBe(answer.body.length);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
}

/** Returns whether an API works with all its dependencies. */
export async function worksFully(url: string): Promise<boolean> {
  return (jsonOf(await ask(`${url}/health/ready`)) as { status: string }).status === 'ok';
}

/** Returns an export error without its timestamp, for comparisons. */
export function wordsOf(answer: Answer): object {
  return { ...(jsonOf(answer) as object), timestamp: undefined };
}

/**
 * Sends these bytes on a new connection and returns the response up to its end, for requests that no client library
 * would send.
 */
export function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const received: Buffer[] = [];
    socket.setTimeout(20_000, () => socket.destroy(new Error('The server neither answers nor hangs up')));
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    // A response before a reset counts, because a server that rejects a request does not read the rest of it.
    socket.on('error', (error) => (received.length > 0 ? undefined : reject(error)));
    socket.on('close', () => resolve(Buffer.concat(received).toString('latin1')));
    socket.write(bytes);
  });
}

/** Returns the status of a raw response; NaN when there is none. */
export function statusOf(raw: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(raw)?.[1]);
}
