import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setOrganizationOrigins } from '../../shared/models/organization.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { bootOf, embedPath, expectFailurePage, policyOf, textOf } from '../embed/embed-pages.ts';
import { publishLesson } from '../player/player-lessons.ts';

const returnUrl = 'https://lms.example/course/view.php?id=2&x=<y>';

let harness: Harness;
let address: string;
beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
});
afterAll(() => harness.close());

async function buildLesson({
  origins = [],
  language = 'en',
}: { origins?: string[]; language?: string } = {}) {
  const { organization } = await buildOrganization(harness);
  await setOrganizationOrigins(harness.db, organization.slug, origins);
  return publishLesson(harness, organization, { lesson: { language } });
}

const open = (version: LessonVersion, token: string) => ask(address + embedPath(version, token));

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

  test('only its organization, where it was not launched', async () => {
    const version = await buildLesson({ origins: ['https://school.example'] });
    const page = await open(version, buildLearnerToken(version));
    expect(policyOf(page)['frame-ancestors']).toBe('https://school.example');
    expect(bootOf(page)).toMatchObject({ launch: null });
  });

  test('any site, where the organization lists none', async () => {
    const version = await buildLesson();
    const page = await open(version, buildLaunchToken(version, { platformOrigins }));
    expect(policyOf(page)['frame-ancestors']).toBe('*');
    expect(bootOf(page)).toMatchObject({ allowedOrigins: null });
  });
});

describe('the texts around a launched lesson are in', () => {
  test.each([
    ['pt-BR', 'pt', 'ltr', 'Voltar ao curso'],
    ['es_MX', 'es', 'ltr', 'Volver al curso'],
    ['AR', 'ar', 'rtl', 'العودة إلى المقرر'],
    ['nl', 'de', 'ltr', 'Zurück zum Kurs'],
    ['', 'de', 'ltr', 'Zurück zum Kurs'],
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

  test.each(['javascript:alert(1)', 'data:text/html,x', 'lms.example/course', 'https://'])(
    'is not offered for %s',
    async (bad) => {
      const version = await buildLesson();
      const page = await open(version, buildLaunchToken(version, { returnUrl: bad }));
      expect(bootOf(page)).toMatchObject({ launch: { returnUrl: null } });
    },
  );

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
    await deleteLesson(harness.db, version.lessonId);
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

test('an untracked page gives the reason and has a session of its own each time', async () => {
  const version = await buildLesson();
  const token = buildLaunchToken(version, { ltiUserId: '', untracked: 'anonymous' });
  const [first, second] = [bootOf(await open(version, token)), bootOf(await open(version, token))];
  expect(first).toMatchObject({ untracked: 'anonymous', session: { revision: 0 } });
  expect(first.learner).not.toBe(second.learner);
});
