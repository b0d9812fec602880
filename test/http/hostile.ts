import { expect } from 'vitest';
import { playerRelease } from '../../shared/player/player-release.ts';
import { ask, sendRaw, statusOf } from '../support/answers.ts';
import { endpoints, requestOf } from './isolation-table.ts';
import type { Caller } from './isolation-table.ts';
import { buildTenant, tokenOf } from '../support/tenants.ts';
import type { Tenant } from '../support/tenants.ts';
import { useApi, useStarted } from '../support/use.ts';

/** A raw HTTP request; `target` and `headers` may hold any Latin-1 text. */
export interface RawRequest {
  method: string;
  target: string;
  headers: string[];
  body: Buffer | null;
}

/** One endpoint for each parser of URLs, headers or bodies. All other endpoints share these parsers. */
export const hostileCases: [name: string, caller: Caller][] = [
  ['GET /api/public/lessons/:lessonId/progress/:learnerId', 'bearer'],
  ['GET /api/public/lessons/:lessonId/widgets/:file', 'embed'],
  ['GET /content/v1/:lessonId/:versionId/:expires/:signature/chunks/:chunkId', 'anyone'],
  ['GET /api/lessons/:lessonId/versions/:versionId/export-manifest', 'bearer'],
  ['GET /api/lessons', 'session'],
  ['GET /embed/:lessonId', 'embed'],
  ['GET /assets/*address', 'anyone'],
  ['GET /player/:release/:file', 'anyone'],
  ['GET /oembed', 'anyone'],
  ['GET /lti/login', 'anyone'],
  ['GET /lti/register/:token', 'anyone'],
  ['GET /lti/select/:selectionId', 'anyone'],
  ['POST /lti/login', 'anyone'],
  ['POST /lti/launch', 'anyone'],
  ['POST /lti/select/:selectionId', 'anyone'],
  ['PATCH /api/lessons/imports/:importId', 'bearer'],
  ['POST /api/session', 'anyone'],
];

/** Statuses of cases where the request from {@link requestsOf} does not succeed. */
export const meantStatuses: Record<string, number> = {
  'POST /api/session': 422,
  'POST /lti/launch': 403,
  'GET /lti/register/:token': 400,
  'GET /lti/select/:selectionId': 404,
  'POST /lti/select/:selectionId': 404,
};

/** The form bodies, with all fields. */
export function formsOf({ issuer }: Pick<Tenant, 'issuer'>): Record<string, Record<string, string>> {
  // The host matches the Host header of these requests.
  const target = 'http://127.0.0.1/lti/launch';
  const login = {
    ...{ iss: issuer, client_id: 'lectern', login_hint: 'user', target_link_uri: target },
    ...{ lti_deployment_id: '1', lti_message_hint: 'message', lti_storage_target: 'frame' },
  };
  return {
    'POST /lti/login': login,
    'POST /lti/launch': { state: 'state', id_token: 'a.b.c', storage_value: 'value' },
    'POST /lti/select/:selectionId': { q: 'title', cursor: '', lesson: 'id', action: 'choose' },
  };
}

/** Returns the valid request for a case. Logins omit the password, because hashing each one takes long. */
type RequestOfCase = (name: string, caller: Caller) => RawRequest;

async function requestsOf(address: string, tenant: Tenant): Promise<RequestOfCase> {
  const media = `/api/public/lessons/${tenant.ids.lessonId}/media/${tenant.ids.mediaId}`;
  const led = await ask(`${address}${media}?token=${tokenOf(tenant, tenant.ids)}`);
  // The host matches the Host header of these requests.
  const embedAddress = `http://127.0.0.1/embed/${tenant.ids.lessonId}`;
  const forms = formsOf(tenant);
  const paths: Record<string, string> = {
    '/assets/*address': led.headers.get('location') ?? '',
    '/lti/login': `/lti/login?${new URLSearchParams(forms['POST /lti/login']).toString()}`,
    '/oembed': `/oembed?url=${encodeURIComponent(embedAddress)}`,
    '/player/:release/:file': `/player/${(await playerRelease()).name}/player.js`,
  };
  return (name, caller) => {
    const [method = '', path = ''] = name.split(' ');
    const endpoint = endpoints[name];
    const form = forms[name];
    if (form !== undefined) return formRequest(method, path, new URLSearchParams(form).toString());
    if (endpoint === undefined) return { method, target: paths[path] ?? path, headers: [], body: null };
    const { path: target, options } = requestOf(endpoint, caller, tenant, tenant.ids);
    const headers = Object.entries(options.headers as Record<string, string>);
    const body = name === 'POST /api/session' ? JSON.stringify({ email: tenant.ids.email }) : options.body;
    return {
      method,
      target,
      headers: headers.map(([header, value]) => `${header}: ${value}`),
      body: body === undefined ? null : Buffer.from(body as string),
    };
  };
}

/** Encodes a form as a browser does. */
export function formRequest(method: string, target: string, body: string): RawRequest {
  const headers = ['content-type: application/x-www-form-urlencoded'];
  return { method, target, headers, body: Buffer.from(body, 'latin1') };
}

/** Returns the bytes of a request; the server closes the connection after the response. */
function bytesOfRequest({ method, target, headers, body }: RawRequest): Buffer {
  const length = body === null ? [] : [`Content-Length: ${body.length}`];
  const first = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close'];
  const head = Buffer.from([...first, ...headers, ...length, '', ''].join('\r\n'), 'latin1');
  return body === null ? head : Buffer.concat([head, body]);
}

/** Sends requests, several at a time, and checks each response and the process; returns the statuses. */
export async function expectAllSane(address: string, requests: RawRequest[]): Promise<number[]> {
  const statuses: number[] = [];
  for (let start = 0; start < requests.length; start += 8) {
    const sent = requests.slice(start, start + 8).map((request) => expectSane(address, request));
    statuses.push(...(await Promise.all(sent)));
  }
  await expectUnharmed(address);
  return statuses;
}

/** Endpoints that respond to errors with HTML pages, whatever host the target names. */
const pages = /^(?:\w+:\/\/[^/]*)?\/(?:embed|lti)\//;

/** Responses without a body may still have a Content-Length. */
const bodiless = [204, 304];

/**
 * Sends a request and returns the status. The response must be well-formed, match its Content-Length, be no server error
 * and have no client input in its head. Errors must have a documented shape, or be a page where the endpoint serves
 * pages.
 */
async function expectSane(address: string, request: RawRequest): Promise<number> {
  const { method, target } = request;
  const given = await sendRaw(address, bytesOfRequest(request));
  const raw = given.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const status = statusOf(raw);
  const about = { request: `${method} ${target.slice(0, 300)}`, answer: raw.slice(0, 600) };
  // oEmbed rejects an unknown format with 501.
  const isSane = (status >= 200 && status < 500) || (status === 501 && target.startsWith('/oembed?'));
  expect({ ...about, sane: isSane }).toStrictEqual({ ...about, sane: true });
  const [head, body] = cut(raw);
  expect(head).not.toMatch(/^x-injected/im);
  if (method === 'HEAD' || bodiless.includes(status)) return status;
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length !== undefined) expect({ ...about, length: body.length }).toEqual({ ...about, length: +length });
  const isPage = /^content-type: text\/html; charset=utf-8$/im.test(head);
  if (status >= 400)
    expect({ ...about, head }).toMatchObject({
      head: expect.stringMatching(/^error-code: [A-Z_]+$/im) as string,
    });
  if (status >= 400 && isPage) {
    expect({ ...about, isPage: pages.test(target) }).toEqual({ ...about, isPage: true });
  } else if (status >= 400) {
    const shapes = [
      ['error'],
      ['error', 'code'],
      ['error', 'message', 'code', 'timestamp'],
      ['error', 'code', 'current'],
    ];
    const fields = expect.toBeOneOf(shapes) as string[];
    expect({ ...about, fields: fieldsOf(body) }).toEqual({ ...about, fields });
  }
  return status;
}

/** Checks that the process still responds, and that no input polluted Object.prototype. */
async function expectUnharmed(address: string): Promise<void> {
  expect((await ask(`${address}/health/live`)).status).toBe(200);
  expect(Object.keys(Object.prototype)).toStrictEqual([]);
  const shared = Object.getOwnPropertyNames(Object.prototype).filter((name) => name.includes('polluted'));
  expect(shared).toStrictEqual([]);
}

function cut(raw: string): [head: string, body: string] {
  const end = raw.indexOf('\r\n\r\n');
  return end === -1 ? [raw, ''] : [raw.slice(0, end).replaceAll('\r', ''), raw.slice(end + 4)];
}

function fieldsOf(body: string): string[] {
  try {
    return Object.keys(JSON.parse(body) as object);
  } catch {
    return [`no JSON: ${body.slice(0, 200)}`];
  }
}

/** Starts an API with a worker and a tenant that has one of everything. */
export function useHostileLab(): { url: string; tenant: Tenant; requestFor: RequestOfCase } {
  const api = useApi(
    {
      RATE_LIMIT_PER_KEY: '0',
      RATE_LIMIT_PER_ADDRESS: '0',
      LOGIN_TRIES: '1000',
      TRUST_PROXY: '1',
      LECTERN_ALLOWED_ORIGINS: 'https://pages.example',
    },
    { worker: true },
  );
  return useStarted(async () => {
    const tenant = await buildTenant(api, api.url);
    return { url: api.url, tenant, requestFor: await requestsOf(api.url, tenant) };
  });
}
