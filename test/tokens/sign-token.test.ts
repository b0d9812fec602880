import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { EmbedToken } from '../../shared/tokens/player-tokens.ts';
import { unpublish } from '../../shared/publishing/publishing.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { testSigningSecrets } from '../support/harness.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { useApi } from '../support/use.ts';

const api = useApi();
let headers: { authorization: string };
let version: LessonVersion;

beforeAll(async () => {
  const built = await buildOrganization(api);
  headers = built.headers;
  version = await buildVersion(api, built.organization, (await buildPackage()).path);
});

const send = (body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
  ask(`${api.url}/api/public/sign-token`, {
    method: 'POST',
    headers: { ...headers, 'content-type': type },
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
    const signed = await sign(bodyWith({ organizationId: randomUUID(), iss: 'me', exp: 1 }));
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
    const { organization, headers: owner } = await buildOrganization(api);
    const draft = await buildVersion(api, organization, (await buildPackage()).path, { publish: false });
    const body = JSON.stringify({ lessonId: draft.lessonId, learnerId: 'learner-1' });
    const url = `${api.url}/api/public/sign-token`;
    const json = { ...owner, 'content-type': 'application/json' };
    expect((await ask(url, { method: 'POST', headers: json, body })).status).toBe(200);
    await unpublish(api.db, draft.lessonId);
    expect((await ask(url, { method: 'POST', headers: json, body })).status).toBe(200);
  });
});

test('a body that is not JSON gets 422', async () => {
  expectError(await send('{'), 422, 'Request body must be valid JSON');
});

test.each(['null', '[]', '"text"'])('%s is JSON, but not an object', async (body) => {
  expectError(await send(body), 422, 'Request body must be a JSON object');
});

test('a body over 64 KiB gets 413', async () => {
  const text = 'Request body must be at most 65536 bytes';
  expectError(await send(bodyWith().padEnd(64 * 1024 + 1, ' ')), 413, text);
});
