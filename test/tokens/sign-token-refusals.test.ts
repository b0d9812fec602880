import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { deleteLesson, unpublish } from '../../shared/publishing/publishing.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { ask, expectError } from '../support/answers.ts';
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

const send = (body: string, headers: Record<string, string> = {}, url = api.url) =>
  ask(`${url}/api/public/sign-token`, {
    method: 'POST',
    headers: { ...api.headers, 'content-type': 'application/json', ...headers },
    body,
  });

const sign = (fields: object = {}) =>
  send(JSON.stringify({ lessonId: version.lessonId, learnerId: 'learner-1', ...fields }));

describe('an invalid field gets 422 with this message', () => {
  const learnerFault = 'learnerId must be 1 to 255 characters without control characters';
  const timeoutFault = 'timeout must be an integer between 1 and 86400';
  test.each<[error: string, what: string, fields: object]>([
    ['Lesson ID must be a UUID', 'no lessonId', { lessonId: undefined }],
    ['Lesson ID must be a UUID', 'a lessonId that is a slug', { lessonId: 'how-tides-work' }],
    ['Lesson ID must be a UUID', 'a lessonId and a line break', { lessonId: `${randomUUID()}\n` }],
    ['Lesson ID must be a UUID', 'an operator for a lessonId', { lessonId: { $ne: null } }],
    ['Version ID must be a UUID', 'a versionId that is none', { versionId: '1' }],
    ['learnerId is required', 'no learnerId', { learnerId: undefined }],
    ['learnerId is required', 'an empty learnerId', { learnerId: '' }],
    [learnerFault, 'a learnerId of 256 characters', { learnerId: 'x'.repeat(256) }],
    [learnerFault, 'a learnerId of 256 large characters', { learnerId: '😀'.repeat(256) }],
    [learnerFault, 'a learnerId with a line break', { learnerId: 'learner-1\n' }],
    [learnerFault, 'a learnerId with half a character', { learnerId: 'a\ud83d' }],
    ['userAttributes must be an object', 'a list of attributes', { userAttributes: [] }],
    ['userAttributes must be an object', 'a text of attributes', { userAttributes: '{}' }],
    [
      'userAttributes must be at most 8192 bytes as JSON',
      '8193 bytes of attributes',
      { userAttributes: { a: 'x'.repeat(8185) } },
    ],
    [timeoutFault, 'a second too long', { timeout: 86_401 }],
    [timeoutFault, 'no time at all', { timeout: 0 }],
    [timeoutFault, 'half a second', { timeout: 1.5 }],
    [timeoutFault, 'a number as text', { timeout: '3600' }],
  ])('%s: %s', async (error, _what, fields) => {
    expectError(await sign(fields), 422, error);
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
      expectError(await sign(fields), 422, error);
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
    expectError(await sign(fields), 404, 'Lesson not found or does not belong to your organization');
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
  const body = JSON.stringify({ lessonId: version.lessonId, learnerId: 'learner-1' });
  expectError(await send(body, {}, off), 500, 'Failed to generate token');
});
