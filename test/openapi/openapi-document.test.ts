import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, expect, test } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { buildUser, openSession } from '../accounts/users.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { AskOptions } from '../support/answers.ts';
import { buildLearnerToken, buildPackage, buildVersion, statusPath } from '../support/factories.ts';
import { createChecker } from './openapi-checks.ts';
import type { Document, Operation } from './openapi-checks.ts';
import { apiRoutes } from '../http/route-table.ts';
import { useApi, useStarted } from '../support/use.ts';
import { pngWith } from '../exports/pictures.ts';

const api = useApi();
let document: Document;
let operations: { name: string; path: string; method: string; operation: Operation }[];

beforeAll(async () => {
  document = jsonOf(await ask(`${api.url}/openapi.json`)) as Document;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      method,
      operation,
    })),
  );
});

test('the document is valid OpenAPI 3.1, of this release', async () => {
  const validator = new Validator();
  expect(await validator.validate({ ...document })).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info.version).toBe(project.version);
});

/** The only route with a wildcard; clients never build its URLs. */
const assetPath = '/assets/v1/{area}/{sha256}/{size}/{type}/{subtype}/{fileName}';

test('the document has exactly the endpoints of the API', () => {
  const routes = apiRoutes().map(({ method, path }) => {
    const written = path === '/assets/*address' ? assetPath : path.replace(/:(\w+)/g, '{$1}');
    return `${method} ${written}`;
  });
  expect(operations.map(({ name }) => name).toSorted()).toEqual(routes.toSorted());
});

test('every operation has a unique name, a summary, a tag and its authentication', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { name, operation } of operations) {
    const { summary, tags, security } = operation;
    expect({ name, told: [typeof summary, tags.length, Array.isArray(security)] }).toEqual({
      name,
      told: ['string', 1, true],
    });
  }
});

test('every parameter is described', () => {
  const silent = operations.flatMap(({ name, operation }) =>
    (operation.parameters ?? [])
      .filter(({ description = '' }) => description === '')
      .map((parameter) => `${name}: ${parameter.name}`),
  );
  expect(silent).toEqual([]);
});

test('every JSON body has examples, and every example fits its schema', () => {
  const { faults } = createChecker(document);
  let checked = 0;
  for (const { name, path, method, operation } of operations) {
    const at = ['paths', path, method];
    const bodies = [
      ...(operation.requestBody ? [{ at: [...at, 'requestBody'], ...operation.requestBody }] : []),
      ...Object.entries(operation.responses).map(([status, response]) => ({
        at: [...at, 'responses', status],
        ...response,
      })),
    ];
    for (const body of bodies) {
      const json = body.content?.['application/json'];
      // The document itself needs no example.
      if (json === undefined || path === '/openapi.json') continue;
      const examples = Object.entries(json.examples ?? {});
      expect({ name, at: body.at, has: examples.length > 0 }).toMatchObject({ has: true });
      for (const [key, { value }] of examples) {
        const wrong = faults([...body.at, 'content', 'application/json', 'schema'], value);
        expect({ name, at: body.at, key, wrong }).toEqual({ name, at: body.at, key, wrong: [] });
        checked += 1;
      }
    }
  }
  expect(checked).toBeGreaterThan(100);
});

/** Their errors have exactly one field. */
const oneField = [
  'POST /api/public/sign-token',
  'GET /api/public/lessons/{lessonId}/progress/{learnerId}',
  'GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId}',
  'GET /api/public/lessons/{lessonId}/player-data',
  'GET /api/lessons/{lessonId}/player-data',
];

test('every error has its code in a header, and in its body unless that has exactly one field', () => {
  const fieldsOf: Record<string, string[]> = { Error: [], ErrorText: [] };
  for (const { name, operation } of operations) {
    for (const [status, { headers, content = {} }] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue;
      expect({ name, status, headers: Object.keys(headers) }).toMatchObject({
        headers: expect.arrayContaining(['Error-Code']) as string[],
      });
      const { $ref = '' } = (content['application/json']?.schema ?? {}) as { $ref?: string };
      fieldsOf[$ref.split('/').at(-1) ?? '']?.push(name);
    }
  }
  expect([...new Set(fieldsOf['ErrorText'])].toSorted()).toEqual(oneField.toSorted());
  expect(fieldsOf['Error']?.filter((name) => oneField.includes(name))).toEqual([]);
});

test.each([
  ['GET /api/public/lessons/{lessonId}/progress/{learnerId}', '200 401 403 404 422 429 500'],
  ['GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId}', '200 401 403 404 422 429 500'],
  ['POST /api/public/sign-token', '200 401 403 404 413 422 429 500'],
  ['GET /api/public/lessons/{lessonId}/player-data', '200 400 401 403 404 422 429 500'],
  [
    'GET /api/lessons/{lessonId}/versions/{versionId}/export-zip',
    '200 202 206 302 304 400 401 403 404 412 416 422 429 500',
  ],
  ['GET /api/lessons/{lessonId}/versions/{versionId}/export-manifest', '200 202 400 401 403 404 422 429 500'],
  ['GET /api/lessons/{lessonId}/versions/{versionId}/export-status', '200 204 400 401 403 404 422 429 500'],
  [
    'DELETE /api/lessons/{lessonId}/versions/{versionId}/export-status',
    '202 204 400 401 403 404 422 429 500',
  ],
])('%s documents every status', (wanted, statuses) => {
  const found = operations.find(({ name }) => name === wanted);
  expect(Object.keys(found?.operation.responses ?? {})).toEqual(statuses.split(' '));
});

test.each([
  ['/openapi.json', 'application/json'],
  ['/schemas/lesson.json', 'application/schema+json'],
])('pages of every origin may read %s, and clients with its ETag get 304', async (path, type) => {
  const first = await ask(api.url + path);
  expect(first.headers.get('access-control-allow-origin')).toBe('*');
  expect(first.headers.get('content-type')).toMatch(type);
  expect(first.headers.get('cache-control')).toBe('public, max-age=300');
  const etag = first.headers.get('etag') ?? '';
  const again = await ask(api.url + path, { headers: { 'if-none-match': etag } });
  expect({ status: again.status, body: again.body.length }).toEqual({ status: 304, body: 0 });
  expect((await ask(api.url + path, { method: 'POST' })).status).toBe(405);
});

test('the document names PUBLIC_URL, and the session cookie as browsers accept it there', async () => {
  expect(document.servers).toEqual([{ url: '/' }]);
  expect(document.components.securitySchemes.session?.name).toBe('lectern');
  const secure = await api.startApi({ PUBLIC_URL: 'https://lessons.example/lectern/' });
  const named = jsonOf(await ask(`${secure}/openapi.json`)) as Document;
  expect(named.servers).toEqual([{ url: 'https://lessons.example/lectern' }]);
  expect(named.components.securitySchemes.session?.name).toBe('__Host-lectern');
});

/* Documented responses that no other test gets: `ask` compares each response with the OpenAPI document. */

const built = useStarted(async () => {
  const { path, mediaIds } = await buildPackage({ media: [{ bytes: pngWith('a picture') }] });
  const version = await buildVersion(api, api.organization, path);
  const { user } = await buildUser(api, { organization: api.organization });
  const medium = `/api/public/lessons/${version.lessonId}/media/${mediaIds[0]}?token=${buildLearnerToken(version)}`;
  return { version, medium, session: await openSession(api.url, user) };
});

test.each<[what: string, path: () => string, options: () => AskOptions]>([
  [
    "a user's lesson",
    () => `/api/lessons/${built.version.lessonId}/player-data`,
    () => ({ headers: built.session }),
  ],
  ["a learner's medium", () => built.medium, () => ({})],
])('%s over the rate limit gets 429', async (_what, path, options) => {
  const limited = await api.startApi({ RATE_LIMIT_PER_KEY: '1', RATE_LIMIT_PER_ADDRESS: '1' });
  await ask(limited + path(), options());
  expect((await ask(limited + path(), options())).status).toBe(429);
});

test('a file gets 412 for another ETag, and an event stream 204 after its end', async () => {
  const file = (await ask(api.url + built.medium)).headers.get('location') ?? '';
  const other = { headers: { 'if-match': '"another"' } };
  expect((await ask(new URL(file, api.url).href, other)).status).toBe(412);
  const ended = { ...api.headers, accept: 'text/event-stream', 'last-event-id': 'none' };
  expect((await ask(api.url + statusPath(built.version), { headers: ended })).status).toBe(204);
});
