import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messagesWith } from '../../shared/i18n/message.ts';
import { setOrganizationOrigins } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { bootOf, embedPath, policyOf, textOf } from './embed-pages.ts';
import { heading, Player, publishLesson, section, step } from '../player/player-lessons.ts';

let harness: Harness;
let api: string;
let organization: Organization;
let version: LessonVersion;
let release: string;
beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  organization = (await buildOrganization(harness)).organization;
  version = await publishLesson(harness, organization, {
    lesson: { title: 'Tides & "Moons"', language: 'fr-CA' },
  });
  release = (await playerRelease()).name;
});
afterAll(() => harness.close());

describe('the page of a lesson', () => {
  test('has everything that its script needs before the first step, equal to the player endpoints', async () => {
    const token = buildLearnerToken(version, { userAttributes: '{"10":1,"2":{}}' });
    await new Player(api, version, token).write({ currentStepIndex: 1 });
    const lesson = `${api}/api/public/lessons/${version.lessonId}`;
    const [data, session, content] = await Promise.all(
      ['player-data', 'session', 'content'].map(
        async (name) => jsonOf(await ask(`${lesson}/${name}?token=${token}`)) as Record<string, unknown>,
      ),
    );
    const boot = bootOf(await ask(api + embedPath(version, token)));
    expect(boot).toStrictEqual({
      page: 'lesson',
      lessonId: version.lessonId,
      versionId: version._id,
      title: 'Tides & "Moons"',
      language: 'fr-CA',
      now: expect.any(String) as string,
      token: { expiresAt: expect.any(String) as string },
      learner: expect.stringMatching(/^[\w-]{43}$/) as string,
      content: { base: content?.base, expiresAt: content?.expiresAt },
      styledWidgets: [],
      sessionUrl: `/api/public/lessons/${version.lessonId}/session`,
      contentUrl: `/api/public/lessons/${version.lessonId}/content`,
      frameUrl: `/player/${release}/frame.html`,
      allowedOrigins: null,
      launch: null,
      untracked: null,
      messages: messagesWith('fr', ['notice.']),
      session,
      lesson: data?.lesson,
    });
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp: number;
    };
    expect(boot.token).toEqual({ expiresAt: new Date(exp * 1000).toISOString() });
  });

  test('contains no token, and neither reads nor sets cookies', async () => {
    const token = buildLearnerToken(version);
    const headers = { cookie: 'lectern=x; lectern.sig=y' };
    const answer = await ask(api + embedPath(version, token), { headers });
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).not.toContain(token.split('.')[2]);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('vary')).toBeNull();
  });

  test("is in the lesson's language, and says that it is loading, or what is missing", async () => {
    const answer = await ask(api + embedPath(version), { headers: { 'accept-language': 'de' } });
    const page = answer.body.toString();
    expect(page).toContain('<html lang="fr-CA" dir="ltr">');
    expect(page).toContain('<title>Tides &amp; &quot;Moons&quot;</title>');
    expect(textOf(answer)).toMatch(/^Tides .* Chargement… Cette leçon a besoin de JavaScript/);
    const arabic = await publishLesson(harness, organization, { lesson: { language: 'ar' } });
    const rightToLeft = await ask(api + embedPath(arabic));
    expect(rightToLeft.body.toString()).toContain('<html lang="ar" dir="rtl">');
    expect(bootOf(rightToLeft)).toMatchObject({ language: 'ar' });
    const unknown = await publishLesson(harness, organization, { lesson: { language: null } });
    expect(bootOf(await ask(api + embedPath(unknown)))).toMatchObject({ language: 'en' });
  });

  test('identifies a learner by a key that is stable over tokens and reveals nothing', async () => {
    const keyOf = async (token: string) => bootOf(await ask(api + embedPath(version, token))).learner;
    const ada = { learnerId: 'ada' };
    const first = await keyOf(buildLearnerToken(version, { ...ada, seconds: 60 }));
    expect(await keyOf(buildLearnerToken(version, { ...ada, userAttributes: '{"a":1}' }))).toBe(first);
    const others = await Promise.all([
      keyOf(buildLearnerToken(version, { learnerId: 'ben' })),
      keyOf(buildLaunchToken(version, { ltiUserId: 'ada' })),
      keyOf(buildLaunchToken(version, { ltiUserId: 'ada', contextId: null })),
      keyOf(buildLaunchToken(version, { ltiUserId: 'ada', platformId: 'another' })),
    ]);
    expect(new Set([first, ...others]).size).toBe(5);
  });

  test('resumes a session of an LTI launch', async () => {
    const boot = bootOf(await ask(api + embedPath(version, buildLaunchToken(version))));
    expect(boot.session).toMatchObject({ ltiUserId: 'user-1', revision: 0, versionId: version._id });
  });

  test('responds to HEAD, and to no writing method', async () => {
    const head = await ask(api + embedPath(version), { method: 'HEAD' });
    expect({ status: head.status, length: head.body.length }).toEqual({ status: 200, length: 0 });
    const post = await ask(api + embedPath(version), { method: 'POST' });
    expect({ status: post.status, allow: post.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'GET, HEAD',
    });
  });
});

test('has exactly these headers, which isolate it', async () => {
  const answer = await ask(api + embedPath(version));
  expect(policyOf(answer)).toStrictEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': expect.stringMatching(/^'self' 'sha256-[\w+/]{43}='$/) as string,
    'connect-src': "'self'",
    'frame-src': "'self'",
    'img-src': "'self' data:",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': '*',
  });
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
    'permissions-policy': expect.stringContaining('camera=(), ') as string,
    'ratelimit-policy': '"address";q=6000;w=60',
  });
  for (const name of ['x-frame-options', 'access-control-allow-origin', 'etag']) {
    expect(answer.headers.get(name)).toBeNull();
  }
});

test("may be framed by the organization's origins, from the next request on", async () => {
  const owner = (await buildOrganization(harness)).organization;
  const theirs = await publishLesson(harness, owner);
  const asked = async () => {
    const answer = await ask(api + embedPath(theirs));
    return [policyOf(answer)['frame-ancestors'], bootOf(answer).allowedOrigins];
  };
  expect(await asked()).toEqual(['*', null]);
  const origins = ['https://lms.example', 'http://localhost:8080'];
  await setOrganizationOrigins(harness.db, owner.slug, origins);
  expect(await asked()).toEqual([origins.join(' '), origins]);
  await setOrganizationOrigins(harness.db, owner.slug, []);
  expect(await asked()).toEqual(['*', null]);
});

test('with a path in the public URL all URLs of the page begin with it', async () => {
  const named = await harness.startApi({ PUBLIC_URL: 'https://lessons.example/lectern/' });
  const answer = await ask(named + embedPath(version));
  const { sessionUrl, contentUrl, frameUrl, content } = bootOf(answer);
  for (const url of [sessionUrl, contentUrl, frameUrl]) expect(url).toMatch(/^\/lectern\/(api|player)\//);
  expect(content).toMatchObject({
    base: expect.stringMatching(/^https:\/\/lessons\.example\/lectern\/content\/v1\//) as string,
  });
  const page = answer.body.toString();
  expect(page).toContain(`src="/lectern/player/${release}/embed-page.js"`);
  const embed = encodeURIComponent(`https://lessons.example/lectern/embed/${version.lessonId}`);
  expect(page).toContain(`href="/lectern/oembed?format=json&amp;url=${embed}"`);
});

describe('no text of an author breaks out of its element', () => {
  const hostile = '</script><script>window.pwned=1</script><!--<script>\u2028\u2029&lt;"\'';
  /** Ids cannot contain control characters. */
  const hostileId = '</script><!--"\'';

  test('in the title and in the content', async () => {
    const block = { type: 'Text', props: { id: hostileId, html: hostile, [hostile]: '<' } };
    const sections = [section(hostileId, step(hostileId, heading(), block))];
    const written = await publishLesson(harness, organization, { lesson: { title: hostile }, sections });
    const token = buildLearnerToken(written, { userAttributes: JSON.stringify({ [hostile]: hostile }) });
    const answer = await ask(api + embedPath(written, token));
    expect(answer.body.toString().match(/<script/g)).toHaveLength(2);
    expect(answer.body.toString().match(/<\/script/g)).toHaveLength(2);
    expect(answer.body.toString()).not.toContain('<!--');
    const boot = bootOf(answer);
    const data = await ask(`${api}/api/public/lessons/${written.lessonId}/player-data?token=${token}`);
    expect(boot.title).toBe(hostile);
    expect(boot.lesson).toStrictEqual((jsonOf(data) as { lesson: unknown }).lesson);
    expect(boot.session).toMatchObject({ userAttributes: { [hostile]: hostile } });
  });
});

test('a lesson of several megabytes arrives completely', async () => {
  const html = '<p>à marée basse</p>'.repeat(200_000);
  const block = { type: 'Text', props: { id: 'text', html } };
  const large = await publishLesson(harness, organization, { sections: [section('one', step('s', block))] });
  const answer = await ask(api + embedPath(large));
  const { lesson } = bootOf(answer) as {
    lesson: { sections: { steps: { content: { content: unknown[] } }[] }[] };
  };
  expect(lesson.sections[0]?.steps[0]?.content.content).toStrictEqual([block]);
});
