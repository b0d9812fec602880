import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markLessonDeleted } from '../../shared/models/lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { markVersionsUnpublished } from '../../shared/models/lesson-version.ts';
import { setOrganizationOrigins } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask } from '../support/answers.ts';
import { bootOf, embedPath, expectFailurePage, policyOf, textOf } from './embed-pages.ts';
import { publishLesson, section } from '../player/player-lessons.ts';

let harness: Harness;
let api: string;
let organization: Organization;
let version: LessonVersion;
beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  organization = (await buildOrganization(harness)).organization;
  version = await publishLesson(harness, organization);
});
afterAll(() => harness.close());

const open = (of: LessonVersion, token?: string) => ask(api + embedPath(of, token));

describe('the page for a lesson that cannot be shown has the status of player-data:', () => {
  test('a URL without a lesson id, or with an empty or duplicate token, gets 400', async () => {
    const token = buildLearnerToken(version);
    const broken = await ask(`${api}/embed/x?token=${token}`);
    expectFailurePage(broken, 400, 'bad_address', token);
    expect(bootOf(broken).lessonId).toBeNull();
    expectFailurePage(await ask(`${api}/embed/x`), 400, 'bad_address');
    expectFailurePage(await open(version, ''), 400, 'bad_address');
    expectFailurePage(await open(version, `${token}&token=${token}`), 400, 'bad_address', token);
  });

  test('an expired token gets 401', async () => {
    const token = buildLearnerToken(version, { seconds: -1 });
    const answer = await open(version, token);
    expectFailurePage(answer, 401, 'token_expired', token);
    expect(bootOf(answer).lessonId).toBe(version.lessonId);
  });

  test('a forged or malformed token gets 401', async () => {
    const token = buildLearnerToken(version);
    expectFailurePage(await open(version, `${token.slice(0, -5)}AAAAA`), 401, 'token_invalid');
    expectFailurePage(await open(version, 'x'), 401, 'token_invalid');
  });

  test('a revoked token gets 401', async () => {
    const token = buildLearnerToken(version, { learnerId: 'revoked' });
    const tokens = { organizationId: organization._id, lessonId: version.lessonId, learnerId: 'revoked' };
    await revokeTokens(harness.db, tokens, new Date(Date.now() + 1000));
    expectFailurePage(await open(version, token), 401, 'token_revoked', token);
  });

  test('a token of another lesson gets 403', async () => {
    const other = await publishLesson(harness, organization);
    const token = buildLearnerToken(other);
    expectFailurePage(await open(version, token), 403, 'wrong_lesson', token);
  });

  test('a lesson that is unpublished, deleted or unknown gets 404', async () => {
    const unpublished = await publishLesson(harness, organization);
    await markVersionsUnpublished(harness.db, { lessonId: unpublished.lessonId });
    const deleted = await publishLesson(harness, organization);
    await markLessonDeleted(harness.db, deleted.lessonId);
    const never = { ...version, lessonId: randomUUID() };
    for (const gone of [unpublished, deleted, never]) {
      expectFailurePage(await open(gone), 404, 'not_available');
    }
  });

  test('a lesson of another organization gets the 404 of an unknown one', async () => {
    const stranger = (await buildOrganization(harness)).organization;
    const token = buildLearnerToken({ ...version, organizationId: stranger._id });
    expectFailurePage(await open(version, token), 404, 'not_available', token);
  });

  test('a lesson that cannot be played gets 422', async () => {
    const empty = await publishLesson(harness, organization, { sections: [section('empty')] });
    expectFailurePage(await open(empty), 422, 'not_playable');
  });

  test('an IP address over its limit gets 429', async () => {
    const limited = await harness.startApi({ RATE_LIMIT_PER_ADDRESS: '1' });
    await ask(limited + embedPath(version));
    const answer = await ask(limited + embedPath(version));
    expectFailurePage(answer, 429, 'too_many_requests');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('an error of the server gets 500 without details', async () => {
    const broken = await publishLesson(harness, organization);
    await harness.db.lessonContents.deleteMany({ versionId: broken._id });
    const answer = await open(broken);
    expectFailurePage(answer, 500, 'server_error');
    expect(answer.body.toString()).not.toContain(broken._id);
  });
});

test('a valid token decides which origins may frame the error page; otherwise all may', async () => {
  const owner = (await buildOrganization(harness)).organization;
  await setOrganizationOrigins(harness.db, owner.slug, ['https://lms.example']);
  const empty = await publishLesson(harness, owner, { sections: [section('empty')] });
  expect(policyOf(await open(empty))['frame-ancestors']).toBe('https://lms.example');
  expect(policyOf(await open(empty, 'x'))['frame-ancestors']).toBe('*');
});

describe('without a token the page', () => {
  test('waits for one, and is the same for every lesson', async () => {
    const known = await ask(`${api}/embed/${version.lessonId}`);
    expect(known.status).toBe(200);
    expect(bootOf(known)).toStrictEqual({
      page: 'waiting',
      lessonId: version.lessonId,
      allowedOrigins: null,
    });
    expect(textOf(known)).toMatch(/^Open this lesson from your course /);
    expect(policyOf(known)['frame-ancestors']).toBe('*');
    const id = randomUUID();
    const unknown = await ask(`${api}/embed/${id}`);
    expect(unknown.body.toString().replaceAll(id, '')).toBe(
      known.body.toString().replaceAll(version.lessonId, ''),
    );
  });

  test('links to its oEmbed description', async () => {
    const answer = await ask(`${api}/embed/${version.lessonId.toUpperCase()}`);
    const [, href = ''] =
      /<link rel="alternate" type="application\/json\+oembed" href="([^"]*)">/.exec(answer.body.toString()) ??
      [];
    const described = await ask(api + href.replaceAll('&amp;', '&'));
    expect(described.status).toBe(200);
    expect(described.body.toString()).toContain(`${api}/embed/${version.lessonId}`);
  });
});

test.each([
  ['es-MX', 'es', 'ltr', 'Tu enlace ha caducado'],
  ['fr', 'fr', 'ltr', 'Votre lien a expiré'],
  ['de-AT,en;q=0.5', 'de', 'ltr', 'Dein Link ist abgelaufen'],
  ['pt-BR', 'pt', 'ltr', 'Seu link expirou'],
  ['ar', 'ar', 'rtl', 'انتهت صلاحية الرابط'],
  ['zh-TW', 'zh', 'ltr', '你的链接已过期'],
  ['nl,en', 'en', 'ltr', 'Your link has expired'],
  ['nl', 'en', 'ltr', 'Your link has expired'],
  ['*', 'en', 'ltr', 'Your link has expired'],
])('a reader of "%s" gets the error in %s', async (accepted, language, direction, text) => {
  const token = buildLearnerToken(version, { seconds: -1 });
  const answer = await ask(api + embedPath(version, token), { headers: { 'accept-language': accepted } });
  expect(answer.body.toString()).toContain(`<html lang="${language}" dir="${direction}">`);
  expect(textOf(answer).startsWith(text)).toBe(true);
});
