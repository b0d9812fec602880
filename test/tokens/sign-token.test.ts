import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { EmbedToken } from '../../shared/tokens/player-tokens.ts';
import { deleteLesson, unpublish } from '../../shared/publishing/publishing.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { testSigningSecrets } from '../support/harness.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { useApi } from '../support/use.ts';

const api = useApi();
let version: LessonVersion;

async function build({ lessonId, publish = true }: { publish?: boolean; lessonId?: string } = {}) {
  const { path } = await buildPackage({ ...(lessonId !== undefined && { lessonId }) });
  return buildVersion(api, api.organization, path, { publish });
}

beforeAll(async () => {
  version = await build();
});

const send = (body: string, headers: { authorization: string } = api.headers, url = api.url) =>
  ask(`${url}/api/public/sign-token`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });

/** A valid body with overrides. */
const bodyWith = (overrides: object = {}) =>
  JSON.stringify({ lessonId: version.lessonId, learnerId: 'learner-1', ...overrides });

interface Signed {
  token: string;
  expiresAt: string;
}

async function sign(body: string): Promise<Signed> {
  const answer = await send(body);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect({ status: answer.status, body: Object.keys(jsonOf(answer) as object) }).toEqual({
    status: 200,
    body: ['token', 'expiresAt'],
  });
  return jsonOf(answer) as Signed;
}

const read = ({ token }: Signed) => verifyPlayerToken(testSigningSecrets, token) as EmbedToken;

describe('an issued token', () => {
  test('names the caller and the requested lesson', async () => {
    const signed = await sign(bodyWith({ versionId: version._id, userAttributes: { group: 'B' } }));
    expect(read(signed)).toMatchObject({
      kind: 'embed',
      organizationId: version.organizationId,
      lessonId: version.lessonId,
      versionId: version._id,
      learnerId: 'learner-1',
      userAttributes: '{"group":"B"}',
    });
  });

  test('takes its organization from the credentials, and pins no version and has no attributes by default', async () => {
    const signed = await sign(bodyWith({}));
    const { organizationId } = version;
    expect(read(signed)).toMatchObject({ organizationId, versionId: null, userAttributes: '{}' });
  });

  test('treats ids in upper case as those in lower case', async () => {
    const ids = { lessonId: version.lessonId.toUpperCase(), versionId: version._id.toUpperCase() };
    expect(read(await sign(bodyWith(ids)))).toMatchObject({
      lessonId: version.lessonId,
      versionId: version._id,
    });
  });

  test.each([
    [7200, undefined],
    [1, 1],
    [86_400, 86_400],
  ])('lives for %i seconds where the timeout is %s', async (seconds, timeout) => {
    const asked = Math.floor(Date.now() / 1000);
    const signed = await sign(bodyWith({ timeout }));
    const [, payload = ''] = signed.token.split('.');
    const { iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, number>;
    expect(exp).toBe(Number(iat) + seconds);
    expect(iat).toBeGreaterThanOrEqual(asked);
    expect(iat).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));
    expect(signed.expiresAt).toBe(new Date(Number(exp) * 1000).toISOString());
  });

  test('carries attributes unchanged, up to 8192 bytes', async () => {
    const attributes = '{ "b":1, "10":1.10, "2":12345678901234567890, "__proto__":{"$a.b":"\\u0000é"} }';
    const largest = `{"a":"${'é'.repeat(4092)}"}`;
    expect(Buffer.byteLength(largest)).toBe(8192);
    for (const text of [attributes, largest]) {
      const body = `${bodyWith().slice(0, -1)},"userAttributes": ${text} }`;
      expect(read(await sign(body))).toMatchObject({ userAttributes: text });
    }
  });

  test.each([
    ['255 characters', 'x'.repeat(255)],
    ['255 characters of four bytes', '😀'.repeat(255)],
    ['quotes and operators', '{"$ne":"\\"}'],
    ['accents that are characters of their own', 'e\u0301'],
  ])('keeps a learnerId of %s', async (_what, learnerId) => {
    expect(read(await sign(bodyWith({ learnerId })))).toMatchObject({ learnerId });
  });

  test('may be for a lesson without a published version', async () => {
    const draft = await build({ publish: false });
    await sign(bodyWith({ lessonId: draft.lessonId }));
  });
});

test('a body that is not JSON gets 422', async () => {
  expectError(await send('{'), 422, 'Request body must be valid JSON');
});

test('a body over 64 KiB gets 413', async () => {
  const text = 'Request body must be at most 65536 bytes';
  expectError(await send(bodyWith().padEnd(64 * 1024 + 1, ' ')), 413, text);
});

describe('an invalid field gets 422 with this message', () => {
  const learnerFault = 'learnerId must be 1 to 255 characters without control characters';
  const timeoutFault = 'timeout must be an integer between 1 and 86400';
  test.each<[error: string, what: string, fields: object]>([
    ['Lesson ID must be a UUID', 'no lessonId', { lessonId: undefined }],
    ['Lesson ID must be a UUID', 'a lessonId that is a slug', { lessonId: 'how-tides-work' }],
    ['Lesson ID must be a UUID', 'an operator for a lessonId', { lessonId: { $ne: null } }],
    ['learnerId is required', 'no learnerId', { learnerId: undefined }],
    [learnerFault, 'a learnerId of 256 characters', { learnerId: 'x'.repeat(256) }],
    [learnerFault, 'a learnerId with a line break', { learnerId: 'learner-1\n' }],
    ['userAttributes must be an object', 'a list of attributes', { userAttributes: [] }],
    [
      'userAttributes must be at most 8192 bytes as JSON',
      '8193 bytes of attributes',
      { userAttributes: { a: 'x'.repeat(8185) } },
    ],
    [timeoutFault, 'a second too long', { timeout: 86_401 }],
    [timeoutFault, 'no time at all', { timeout: 0 }],
    [timeoutFault, 'half a second', { timeout: 1.5 }],
    [
      'Request body has an unknown field "versionID". Did you mean "versionId"?',
      'a misspelled field',
      { versionID: 'x' },
    ],
    ['Request body has an unknown field "course"', 'a field of no name', { course: 'x' }],
  ])('%s: %s', async (error, _what, fields) => {
    expectError(await send(bodyWith(fields)), 422, error);
  });

  test('the first of several errors is reported, in the order lessonId, versionId, learnerId, userAttributes, timeout', async () => {
    const large = { a: 'x'.repeat(9000) };
    const wrong: [string, unknown, string][] = [
      ['timeout', 0, timeoutFault],
      ['userAttributes', large, 'userAttributes must be at most 8192 bytes as JSON'],
      ['learnerId', '', 'learnerId is required'],
      ['versionId', 'x', 'Version ID must be a UUID'],
      ['lessonId', 'x', 'Lesson ID must be a UUID'],
    ];
    const fields: Record<string, unknown> = {};
    for (const [name, value, error] of wrong) {
      fields[name] = value;
      expectError(await send(bodyWith(fields)), 422, error);
    }
  });
});

test('every unavailable lesson gets the same 404, whatever the reason', async () => {
  const stranger = await buildOrganization(api);
  const foreign = await buildVersion(api, stranger.organization, (await buildPackage()).path);
  const [draft, unpublished, other] = [
    await build({ lessonId: version.lessonId, publish: false }),
    await build({ lessonId: version.lessonId }),
    await build(),
  ];
  await unpublish(api.db, version.lessonId, unpublished._id);
  const deleted = await build();
  await deleteLesson(api.db, deleted.lessonId);

  for (const fields of [
    { lessonId: randomUUID() },
    { lessonId: foreign.lessonId },
    { lessonId: foreign.lessonId, versionId: foreign._id },
    { lessonId: deleted.lessonId },
    { lessonId: deleted.lessonId, versionId: deleted._id },
    { versionId: randomUUID() },
    { versionId: draft._id },
    { versionId: unpublished._id },
    { versionId: foreign._id },
    { versionId: other._id },
    { versionId: version.lessonId },
  ]) {
    expectError(
      await send(bodyWith(fields)),
      404,
      'Lesson not found or does not belong to your organization',
    );
  }
});

test('credentials are checked before the body', async () => {
  for (const body of ['', 'no JSON', '{}', 'x'.repeat(100_000)]) {
    expectError(await send(body, { authorization: '' }), 401, 'Authentication failed');
  }
});

test.each(['GET', 'OPTIONS'])('%s gets 405 with the allowed methods', async (method) => {
  const answer = await ask(`${api.url}/api/public/sign-token`, {
    method,
    headers: api.headers,
  });
  expectError(answer, 405, `${method} is not allowed here`);
  expect(answer.headers.get('allow')).toBe('POST');
});

test('with signing turned off the endpoint returns 500 with its documented message', async () => {
  const off = await api.startApi({ LECTERN_SIGNING_SECRETS: 'none' });
  expectError(await send(bodyWith(), api.headers, off), 500, 'Failed to generate token');
});
