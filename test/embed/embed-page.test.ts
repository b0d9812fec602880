import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { message, messagesWith } from '../../shared/i18n/message.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { jsonCopy } from '../../player/props.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { heading, Player, publishLesson, section, step } from '../player/player-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { bootOf, embedPath, expectFailurePage, policyOf, textOf } from './embed-pages.ts';
import { testPepper } from '../support/harness.ts';

const api = useApi();
const publish = (content: Parameters<typeof publishLesson>[2] = {}) =>
  publishLesson(api, api.organization, content);
const open = (lesson: LessonVersion, token?: string, headers = {}) =>
  ask(api.url + embedPath(lesson, token), { headers });

let version: LessonVersion;
let release: Awaited<ReturnType<typeof playerRelease>>;
beforeAll(async () => {
  version = await publish({ lesson: { title: 'Tides & "Moons"', language: 'fr-CA' } });
  release = await playerRelease();
});

interface PlayerLesson {
  lesson: Record<string, unknown>;
  sections: { title: string; steps: { id: string; title: string; content: { content: object[] } }[] }[];
}

/** Returns the parts of a lesson of player data in a page: all but the steps' content, and the steps of its first chunk. */
function divided({ lesson: { status, ...lesson }, sections }: PlayerLesson) {
  expect(status).toBe('published');
  const steps = sections.flatMap((one) => one.steps);
  const questions = (blocks: object[]) => {
    const found = (blocks as { type: string; props: { id: string; points: number } }[]).filter(
      ({ type }) => type === 'MultipleChoice',
    );
    if (found.length === 0) return {};
    return {
      questions: found.map(({ type, props: { id, points } }) => ({ widgetId: id, widgetType: type, points })),
    };
  };
  return {
    lesson: {
      lesson,
      sections: sections.map((one) => ({
        title: one.title,
        steps: one.steps.map(({ id, title, content }) => ({ id, title, ...questions(content.content) })),
      })),
      chunks: [{ id: expect.stringMatching(/^[\w-]{43}$/) as string, steps: steps.length }],
    },
    steps: steps.map(({ id, content }) => ({ id, content })),
  };
}

function chunksPath({ lessonId, _id }: LessonVersion, base = ''): RegExp {
  return new RegExp(`^${base}/content/v1/${lessonId}/${_id}/\\d+/[\\w-]{43}/chunks/$`);
}

describe('the page of a lesson', () => {
  test('has everything that its script needs before the first step, equal to the player endpoints', async () => {
    const token = buildLearnerToken(version, { userAttributes: '{"10":1,"2":{}}' });
    await new Player(api.url, version, token).write({ currentStepIndex: 1 });
    const lesson = `/api/public/lessons/${version.lessonId}`;
    const [data, session, content] = await Promise.all(
      ['player-data', 'session', 'content'].map(async (name) =>
        jsonOf(await ask(`${api.url}${lesson}/${name}?token=${token}`)),
      ),
    );
    const { base, expiresAt } = content as Record<string, unknown>;
    const boot = bootOf(await open(version, token));
    expect(boot).toStrictEqual({
      page: 'lesson',
      lessonId: version.lessonId,
      versionId: version._id,
      title: 'Tides & "Moons"',
      language: 'fr-CA',
      now: expect.any(String) as string,
      token: { expiresAt: new Date(expiryOf(token)).toISOString() },
      learner: expect.stringMatching(/^[\w-]{43}$/) as string,
      content: { base, expiresAt, chunksUrl: expect.stringMatching(chunksPath(version)) as string },
      styledWidgets: [],
      sessionUrl: `${lesson}/session`,
      contentUrl: `${lesson}/content`,
      allowedOrigins: null,
      launch: null,
      externalVideos: false,
      pictureSizes: {},
      theme: null,
      untracked: null,
      messages: messagesWith('fr', ['notice.']),
      lessonMessages: { language: 'fr', texts: jsonCopy(messagesWith('fr', ['lesson.', 'widget.'])) },
      session,
      chunk: 0,
      ...divided((data as { lesson: PlayerLesson }).lesson),
    });
  });

  test('contains no token, and neither reads nor sets cookies', async () => {
    const token = buildLearnerToken(version);
    const answer = await open(version, token, { cookie: 'lectern=x; lectern.sig=y' });
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).not.toContain(token.split('.')[2]);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
  });

  test("is in the lesson's language, and says that it is loading, or needs JavaScript", async () => {
    const answer = await open(version, undefined, { 'accept-language': 'de' });
    const page = answer.body.toString();
    expect(page).toContain('<html lang="fr-CA" dir="ltr">');
    expect(page).toContain('<title>Tides &amp; &quot;Moons&quot;</title>');
    expect(textOf(answer)).toMatch(/^Tides .* Chargement… Cette leçon a besoin de JavaScript/);
    const arabic = await open(await publish({ lesson: { language: 'ar' } }));
    expect(arabic.body.toString()).toContain('<html lang="ar" dir="rtl">');
    const unknown = await open(await publish({ lesson: { language: null } }));
    expect(bootOf(unknown)).toMatchObject({ language: 'en' });
  });

  test('identifies a learner by a key that is stable over tokens and reveals nothing', async () => {
    const keyOf = async (token: string) => bootOf(await open(version, token)).learner;
    const first = await keyOf(buildLearnerToken(version, { learnerId: 'ada', seconds: 60 }));
    const again = buildLearnerToken(version, { learnerId: 'ada', userAttributes: '{"a":1}' });
    expect(await keyOf(again)).toBe(first);
    const others = await Promise.all([
      keyOf(buildLearnerToken(version, { learnerId: 'ben' })),
      keyOf(buildLaunchToken(version, { ltiUserId: 'ada' })),
      keyOf(buildLaunchToken(version, { ltiUserId: 'ada', contextId: null })),
      keyOf(buildLaunchToken(version, { ltiUserId: 'ada', platformId: 'another' })),
    ]);
    expect(new Set([first, ...others]).size).toBe(5);
  });

  test('resumes the session of an LTI launch', async () => {
    const { session } = bootOf(await open(version, buildLaunchToken(version)));
    expect(session).toMatchObject({ ltiUserId: 'user-1', attempt: 1, versionId: version._id });
  });

  test('responds to HEAD without a body', async () => {
    const head = await ask(api.url + embedPath(version), { method: 'HEAD' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
  });

  test('has exactly these headers, which isolate it', async () => {
    const answer = await open(version);
    const folder = `${api.url}/player/${release.name}/`;
    expect(policyOf(answer)).toStrictEqual({
      'default-src': "'none'",
      'script-src': folder,
      'style-src': expect.stringMatching(/^\S+ 'sha256-[\w+/]{43}='$/) as string,
      'connect-src': "'self'",
      'frame-src': `${folder}frame.html`,
      'img-src': "'self' data:",
      'font-src': "'self'",
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
    const { organization } = await buildOrganization(api);
    const theirs = await publishLesson(api, organization);
    for (const origins of [[], ['https://lms.example', 'http://localhost:8080'], []]) {
      await changeOrganization(api.db, { slug: organization.slug }, { allowedOrigins: origins });
      const answer = await open(theirs);
      expect(policyOf(answer)['frame-ancestors']).toBe(origins.join(' ') || '*');
      expect(bootOf(answer).allowedOrigins).toEqual(origins.length > 0 ? origins : null);
    }
  });

  test('with a path in the public URL all URLs of the page begin with it', async () => {
    const named = await api.startApi({ PUBLIC_URL: 'https://lessons.example/lectern/' });
    const answer = await ask(named + embedPath(version));
    const { sessionUrl, contentUrl, content } = bootOf(answer);
    const { base, chunksUrl } = content as { base: string; chunksUrl: string };
    for (const url of [sessionUrl, contentUrl]) expect(url).toMatch(/^\/lectern\/api\//);
    expect(chunksUrl).toMatch(chunksPath(version, '/lectern'));
    expect(base).toMatch('https://lessons.example/lectern/content/v1/');
    const page = answer.body.toString();
    // The page also works when it is opened under another host name.
    expect(policyOf(answer)['script-src']).toBe(
      `https://lessons.example/lectern/player/${release.name}/ ${named}/lectern/player/${release.name}/`,
    );
    for (const file of ['embed-page.js', 'frame.html']) {
      expect(page).toContain(`src="/lectern/player/${release.name}/${file}"`);
    }
    const embed = encodeURIComponent(`https://lessons.example/lectern/embed/${version.lessonId}`);
    expect(page).toContain(`href="/lectern/oembed?format=json&amp;url=${embed}"`);
  });

  test('arrives completely with several megabytes of content, and none of it breaks out of its element', async () => {
    const hostile = '</script><script>window.pwned=1</script><!--<script>\u2028\u2029&lt;"\'';
    /** Ids cannot contain control characters. */
    const id = '</script><!--"\'';
    const block = { type: 'Text', props: { id, html: hostile.repeat(50_000), [hostile]: '<' } };
    const lesson = await publish({
      lesson: { title: hostile },
      sections: [section(id, step(id, heading(), block))],
    });
    const token = buildLearnerToken(lesson, { userAttributes: JSON.stringify({ [hostile]: hostile }) });
    const answer = await open(lesson, token);
    const page = answer.body.toString();
    expect(page.match(/<script/g)).toHaveLength(3);
    expect(page.match(/<\/script/g)).toHaveLength(3);
    expect(page).not.toContain('<!--');
    const boot = bootOf(answer);
    const data = await ask(`${api.url}/api/public/lessons/${lesson.lessonId}/player-data?token=${token}`);
    expect(boot.title).toBe(hostile);
    const { lesson: loaded } = jsonOf(data) as { lesson: PlayerLesson };
    expect(boot).toMatchObject(divided(loaded));
    expect(boot.session).toMatchObject({ userAttributes: { [hostile]: hostile } });
  });

  test.each([
    ['embed.js', 3],
    ['embed-page.js', 15],
    ['embed-page.css', 3],
  ])('loads quickly: %s has at most %i kB compressed', (name, kilobytes) => {
    expect(gzipSync(release.files.get(name) ?? '', { level: 9 }).length).toBeLessThanOrEqual(
      kilobytes * 1024,
    );
  });
});

describe('a page that cannot play has the status of player-data, and a code:', () => {
  interface Opened {
    lesson?: LessonVersion;
    token?: string;
  }
  const valid = () => buildLearnerToken(version);
  const empty = () => publish({ sections: [section('empty')] });

  test.each<[string, number, string, () => Opened | Promise<Opened>]>([
    ['an empty token', 400, 'bad_address', () => ({ token: '' })],
    [
      'an expired token',
      401,
      'token_expired',
      () => ({ token: buildLearnerToken(version, { seconds: -1 }) }),
    ],
    ['a forged token', 401, 'token_invalid', () => ({ token: `${valid().slice(0, -5)}AAAAA` })],
    [
      'a revoked token',
      401,
      'token_revoked',
      async () => {
        const { lessonId } = version;
        const tokens = { organizationId: api.organization._id, lessonId, learnerId: 'revoked' };
        await revokeTokens(api.db, testPepper, tokens, new Date(Date.now() + 1000));
        return { token: buildLearnerToken(version, { learnerId: 'revoked' }) };
      },
    ],
    [
      'the token of another lesson',
      403,
      'wrong_lesson',
      async () => ({ token: buildLearnerToken(await publish()) }),
    ],
    ['an unknown lesson', 404, 'not_available', () => ({ lesson: { ...version, lessonId: randomUUID() } })],
    ['an unplayable lesson', 422, 'not_playable', async () => ({ lesson: await empty() })],
    [
      'an error of the server',
      500,
      'server_error',
      async () => {
        const lesson = await publish();
        await api.db.lessonContents.deleteMany({ versionId: lesson._id });
        await api.db.preparedParts.deleteMany({ versionId: lesson._id });
        return { lesson };
      },
    ],
  ])('%s gets %i %s', async (_what, status, code, prepare) => {
    const { lesson = version, token } = await prepare();
    const answer = await open(lesson, token);
    expectFailurePage(answer, status, code, token?.includes('.') ? token : undefined);
    expect(bootOf(answer).lessonId).toBe(lesson.lessonId);
    expect(answer.body.toString()).not.toContain(lesson._id);
  });

  test('a URL without a lesson id gets 400 bad_address', async () => {
    for (const path of ['/embed/x', `/embed/x?token=${valid()}`]) {
      const answer = await ask(api.url + path);
      expectFailurePage(answer, 400, 'bad_address');
      expect(bootOf(answer).lessonId).toBeNull();
    }
  });

  test('an IP address over its limit gets 429 too_many_requests', async () => {
    const limited = await api.startApi({ RATE_LIMIT_PER_ADDRESS: '1' });
    await ask(limited + embedPath(version));
    const answer = await ask(limited + embedPath(version));
    expectFailurePage(answer, 429, 'too_many_requests');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('the origins of a valid token may frame it; without one all may', async () => {
    const { organization } = await buildOrganization(api);
    await changeOrganization(
      api.db,
      { slug: organization.slug },
      { allowedOrigins: ['https://lms.example'] },
    );
    const lesson = await publishLesson(api, organization, { sections: [section('empty')] });
    expect(policyOf(await open(lesson))['frame-ancestors']).toBe('https://lms.example');
    expect(policyOf(await open(lesson, 'x'))['frame-ancestors']).toBe('*');
  });

  test.each([
    ['es-MX', 'es', 'ltr'],
    ['de-AT,en;q=0.5', 'de', 'ltr'],
    ['ar', 'ar', 'rtl'],
    ['zh-TW', 'zh', 'ltr'],
    ['nl,en', 'en', 'ltr'],
    ['nl', 'en', 'ltr'],
    ['*', 'en', 'ltr'],
  ])('a browser that accepts "%s" gets it in %s', async (accepted, language, direction) => {
    const expired = buildLearnerToken(version, { seconds: -1 });
    const answer = await open(version, expired, { 'accept-language': accepted });
    expect(answer.body.toString()).toContain(`<html lang="${language}" dir="${direction}">`);
    expect(textOf(answer).startsWith(message(language, 'embed.token_expired.title'))).toBe(true);
  });
});

test('without a token the page waits for one, is the same for every lesson, and links to its oEmbed description', async () => {
  const id = randomUUID();
  const known = await ask(`${api.url}/embed/${version.lessonId.toUpperCase()}`);
  expect(known.status).toBe(200);
  const { lessonId } = version;
  expect(bootOf(known)).toStrictEqual({ page: 'waiting', lessonId, allowedOrigins: null });
  expect(textOf(known)).toMatch(/^Open this lesson from your course /);
  expect(policyOf(known)['frame-ancestors']).toBe('*');
  const page = known.body.toString();
  const unknown = await ask(`${api.url}/embed/${id}`);
  expect(unknown.body.toString().replaceAll(id, '')).toBe(page.replaceAll(lessonId, ''));
  const [, href = ''] =
    /<link rel="alternate" type="application\/json\+oembed" href="([^"]*)">/.exec(page) ?? [];
  const described = await ask(api.url + href.replaceAll('&amp;', '&'));
  expect(described.body.toString()).toContain(`${api.url}/embed/${lessonId}`);
});

/** Returns the Unix time in milliseconds at which a token expires. */
function expiryOf(token: string): number {
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  return (JSON.parse(claims) as { exp: number }).exp * 1000;
}
