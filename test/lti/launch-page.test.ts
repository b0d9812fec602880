import { describe, expect, test } from 'vitest';
import { replaceTheme } from '../../shared/assets/theme-files.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildOrganization } from '../support/factories.ts';
import { useApi, useStarted } from '../support/use.ts';
import { ask, expectError } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { bootOf, embedPath, expectFailurePage, policyOf, textOf } from '../embed/embed-pages.ts';
import { Player, publishLesson } from '../player/player-lessons.ts';

const returnUrl = 'https://lms.example/course/view.php?id=2&x=<y>';

const api = useApi();

async function buildLesson({
  origins = [],
  language = 'en',
}: { origins?: string[]; language?: string } = {}) {
  const { organization } = await buildOrganization(api);
  await changeOrganization(api.db, { slug: organization.slug }, { allowedOrigins: origins });
  return publishLesson(api, organization, { lesson: { language } });
}

const open = (version: LessonVersion, token: string) => ask(api.url + embedPath(version, token));

/** For the page itself, not its frames. */
const languageOf = ({ body }: Answer) => /<html lang="([^"]*)" dir="([^"]*)"/.exec(body.toString())?.slice(1);

describe('a launched lesson may be framed by pages of', () => {
  const platformOrigins = ['https://lms.example', 'https://auth.example'];

  test('its organization and its platform', async () => {
    const version = await buildLesson({ origins: ['https://school.example', 'https://lms.example'] });
    const page = await open(version, buildLaunchToken(version, { platformOrigins }));
    const allowed = ['https://school.example', 'https://lms.example', 'https://auth.example'];
    expect(policyOf(page)['frame-ancestors']).toBe(allowed.join(' '));
    expect(bootOf(page)).toMatchObject({ allowedOrigins: allowed });
  });

  test('any site, where the organization lists none', async () => {
    const version = await buildLesson();
    const page = await open(version, buildLaunchToken(version, { platformOrigins }));
    expect(policyOf(page)['frame-ancestors']).toBe('*');
    expect(bootOf(page)).toMatchObject({ allowedOrigins: null });
  });
});

test("a launched lesson has its organization's theme, also after a change", async () => {
  const version = await buildLesson();
  const token = buildLaunchToken(version, { platformOrigins: ['https://lms.example'] });
  const look = async () => {
    const page = await open(version, token);
    const [, scheme = 'auto'] = /<html [^>]*data-lectern-scheme="(\w+)"/.exec(page.body.toString()) ?? [];
    return { scheme, css: (bootOf(page).theme as { css: string } | null)?.css ?? '' };
  };
  const owner = { organizationId: version.organizationId, id: version.organizationId };
  const theme = { color: '#00695c', scheme: 'dark' } as const;
  expect(await look()).toEqual({ scheme: 'auto', css: '' });
  await replaceTheme(api.db, owner, null, theme);
  const themed = await look();
  expect(themed.scheme).toBe('dark');
  expect(themed.css).toContain('--lectern-accent:');
  await replaceTheme(api.db, owner, theme, { ...theme, scheme: 'light' });
  expect(await look()).toMatchObject({ scheme: 'light' });
});

describe('the texts around a launched lesson are in', () => {
  test.each([
    ['es_MX', 'es', 'ltr', 'Volver al curso'],
    ['AR', 'ar', 'rtl', 'العودة إلى المقرر'],
    ['nl', 'de', 'ltr', 'Zurück zum Kurs'],
  ])("the platform's language (%s: %s), or else the lesson's", async (locale, shown, dir, back) => {
    const version = await buildLesson({ language: 'de' });
    const page = await open(version, buildLaunchToken(version, { locale }));
    expect(languageOf(page)).toEqual([shown, dir]);
    expect(page.body.toString()).toContain('<h1 lang="de" dir="ltr">A lesson</h1>');
    expect(bootOf(page)).toMatchObject({ language: 'de', messages: { 'notice.back': back } });
  });
});

describe('the way back to the course', () => {
  test('is in the page of the lesson', async () => {
    const version = await buildLesson();
    const page = await open(version, buildLaunchToken(version, { returnUrl }));
    expect(bootOf(page)).toMatchObject({ launch: { returnUrl }, untracked: null });
  });

  test.each(['javascript:alert(1)', 'lms.example/a', 'https://'])('is not offered for %s', async (bad) => {
    const version = await buildLesson();
    const page = await open(version, buildLaunchToken(version, { returnUrl: bad }));
    expect(bootOf(page)).toMatchObject({ launch: { returnUrl: null } });
  });

  test("is on the page of an expired launch, in the platform's language", async () => {
    const version = await buildLesson();
    const token = buildLaunchToken(version, { returnUrl, locale: 'fr-CA', seconds: -10 });
    const page = await open(version, token);
    expectFailurePage(page, 401, 'token_expired', token);
    expect(languageOf(page)).toEqual(['fr', 'ltr']);
    expect(textOf(page)).toContain('Retour au cours');
    expect(page.body.toString()).toContain(
      'href="https://lms.example/course/view.php?id=2&amp;x=&lt;y&gt;" target="_top"',
    );
  });

  test('is on the page of a launched lesson that was deleted', async () => {
    const version = await buildLesson();
    await deleteLesson(api.db, version.lessonId);
    const page = await open(version, buildLaunchToken(version, { returnUrl }));
    expectFailurePage(page, 404, 'not_available');
    expect(textOf(page)).toContain('Back to the course');
  });

  test('is not on the page of a token that Lectern did not sign', async () => {
    const version = await buildLesson();
    const token = buildLaunchToken(version, { returnUrl });
    const [header = '', , signature = ''] = token.split('.');
    const claims = { returnUrl: 'https://elsewhere.example/' };
    const forged = [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
    const page = await open(version, forged);
    expectFailurePage(page, 401, 'token_invalid');
    expect(page.body.toString()).not.toContain('elsewhere');
  });
});

test('an untracked page gives the reason and starts a new session each time', async () => {
  const version = await buildLesson();
  const token = buildLaunchToken(version, { ltiUserId: '', untracked: 'anonymous' });
  const [first, second] = [bootOf(await open(version, token)), bootOf(await open(version, token))];
  expect(first).toMatchObject({ untracked: 'anonymous', session: { status: 'not_started' } });
  expect(first.learner).not.toBe(second.learner);
});

describe('without tracking', () => {
  const untracked = useStarted(async () => {
    const { organization } = await buildOrganization(api);
    const version = await publishLesson(api, organization);
    const player = (token: string) => new Player(api.url, version, token);
    return {
      organizationId: organization._id,
      teacher: player(buildLaunchToken(version, { ltiUserId: 'teacher', untracked: 'preview' })),
      anonymous: player(buildLaunchToken(version, { ltiUserId: '', untracked: 'anonymous' })),
    };
  });

  test('a teacher and an anonymous learner begin at the first step, whatever they did before', async () => {
    for (const player of [untracked.teacher, untracked.anonymous]) {
      await player.write({ currentStepIndex: 1, items: [{ widgetId: 'q2', answer: ['b'] }] });
      expect(await player.read()).toMatchObject({
        status: 'not_started',
        items: null,
        courseId: '00000000-0000-0000-0000-000000000000',
      });
    }
  });

  test('a write returns the state that it alone leads to', async () => {
    const write = {
      currentSectionIndex: 1,
      items: [{ stepId: 's2', widgetId: 'q2', answer: ['b'], score: 900, maxScore: 900 }],
      completed: true,
    };
    expect(await untracked.teacher.write(write)).toMatchObject({
      status: 'completed',
      items: [{ widgetId: 'q2', score: 2, maxScore: 2 }],
      score: 66.6667,
      maxScore: 100,
    });
  });

  test('a write that does not fit the lesson is rejected like any other', async () => {
    const rejected = await untracked.anonymous.tell({ items: [{ widgetId: 'unknown', answer: 1 }] });
    expectError(rejected, 422, 'items[0].widgetId "unknown" is not a widget of the step "s1"');
    const outside = await untracked.anonymous.tell({ currentStepIndex: 9 });
    expectError(outside, 422, 'currentStepIndex must be between 0 and 1, not 9');
  });

  test('neither a record nor a course is stored', async () => {
    await untracked.teacher.read();
    await untracked.teacher.write({ currentStepIndex: 1 });
    await untracked.anonymous.write({ currentStepIndex: 1 });
    const { ltiProgress, embedProgress, courses } = api.db;
    const { organizationId } = untracked;
    expect(await ltiProgress.countDocuments({ organizationId })).toBe(0);
    expect(await embedProgress.countDocuments({ organizationId })).toBe(0);
    expect(await courses.countDocuments({ organizationId })).toBe(0);
  });
});
