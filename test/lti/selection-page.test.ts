import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { removePlatform } from '../../shared/models/lti-platform.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { bootOf, policyOf } from '../embed/embed-pages.ts';
import { png } from '../exports/pictures.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { buildOrganization } from '../support/factories.ts';
import { beginSelection, requestSelection, sendSelection, titlesIn } from './support/selection.ts';
import { answerOf, expectRejection, useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();

const publish = (title: string, more: Parameters<typeof publishLesson>[2] = {}) =>
  publishLesson(lab.harness, lab.organization, { lesson: { title }, ...more });

const withQuery = (url: string, fields: Record<string, string>) =>
  `${url}?${new URLSearchParams(fields).toString()}`;

/** Returns the cursor of the button for more lessons; undefined at the end. */
const moreIn = ({ body }: Answer) => /name="cursor" value="([0-9a-f]+)"/.exec(body.toString())?.[1];

/** Returns the names and values of the selected checkboxes and options. */
const tickedIn = ({ body }: Answer) =>
  [...body.toString().matchAll(/(?:name|value)="([^"]*)" (?:checked|selected)/g)].map(([, name]) => name);

describe('the page offers', () => {
  test("the organization's published lessons, each with its size and its published versions", async () => {
    const first = await publish('Tides <&> "Moons"');
    const { lessonId } = first;
    const second = await publish('Tides, corrected', { lessonId });
    await publish('Tides, a draft', { lessonId, publish: false });
    await deleteLesson(lab.harness.db, (await publish('Tides, deleted')).lessonId);
    const page = await ask(await beginSelection(lab));
    const html = page.body.toString();
    expect(titlesIn(page)[0]).toBe('Tides, corrected');
    expect(html).toMatch(/<small>2 sections · 3 steps · Published on [^<]+<\/small>/);
    expect(html).toContain('Always the latest (currently version 2)');
    const versions = [...html.matchAll(/<option value="([^"]+)">Version (\d), [^<]+</g)];
    const shown = versions.filter(([, id]) => id === first._id || id === second._id);
    expect(shown.map(([, id, number]) => [id, number])).toEqual([
      [second._id, '2'],
      [first._id, '1'],
    ]);
    expect(html).not.toMatch(/a draft|deleted/);
  });

  test('pictures of lessons, and previews that record nothing', async () => {
    const bytes = png(1);
    const id = randomUUID();
    const lesson = { title: 'Same title', cover: { image: `media:${id}` } };
    const version = await publish('Same title', { lesson, media: [{ id, bytes }] });
    const url = await beginSelection(lab);
    const html = (await ask(url)).body.toString();
    const src = /<img src="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await ask(new URL(src, url).href)).body.equals(bytes)).toBe(true);
    const link = `${url}/preview/${version.lessonId}`;
    expect(html).toContain(new URL(link).pathname);
    const opened = await fetch(link, { redirect: 'manual' });
    const page = await ask(new URL(opened.headers.get('location') ?? '', url).href);
    expect([opened.status, page.status]).toEqual([303, 200]);
    expect(bootOf(page)).toMatchObject({ versionId: version._id, untracked: 'authorPreview' });

    const { organization } = await buildOrganization(lab.harness);
    const foreign = await publishLesson(lab.harness, organization);
    expectRejection(
      await answerOf(await fetch(`${url}/preview/${foreign.lessonId}`)),
      404,
      'lesson_not_available',
    );
    expectRejection(
      await answerOf(await fetch(`${url}x/preview/${version.lessonId}`)),
      404,
      'choice_expired',
    );
  });

  test('lessons whose title contains the search words, ignoring case and accents', async () => {
    await publish('Élan vital für Anfänger');
    await publish('Élan <b>');
    const url = await beginSelection(lab);
    const found = async (q: string) => titlesIn(await ask(withQuery(url, { q })));
    expect(await found('elan')).toEqual(['Élan &lt;b&gt;', 'Élan vital für Anfänger']);
    expect(await found(' ANFANGER  vital ')).toEqual(['Élan vital für Anfänger']);
    const none = await ask(withQuery(url, { q: '.*"><script>' }));
    expect(titlesIn(none)).toEqual([]);
    expect(none.body.toString()).toContain('No published lesson has these words in its title.');
    expect(none.body.toString()).toContain('value=".*&quot;&gt;&lt;script&gt;"');
  });

  test('further pages, and keeps the selection of the others', async () => {
    const lessons = [];
    for (let number = 0; number < 12; number += 1) lessons.push(await publish(`Paged ${number}`));
    const [last, oldest] = [lessons[11], lessons[0]];
    if (!last || !oldest) throw new Error('there are no lessons');
    const url = await beginSelection(lab);
    const first = await ask(withQuery(url, { q: 'paged' }));
    expect(titlesIn(first)).toHaveLength(10);
    const chosen = {
      q: 'paged',
      [`lesson.${last.lessonId}`]: 'on',
      [`version.${last.lessonId}`]: last._id,
      // The page keeps nothing about lessons that are not selected.
      [`version.${oldest.lessonId}`]: oldest._id,
    };
    const second = await ask(withQuery(url, { ...chosen, cursor: moreIn(first) ?? '' }));
    expect(titlesIn(second)).toEqual(['Paged 11', 'Paged 1', 'Paged 0']);
    expect(second.body.toString()).toContain('<legend>Your selection</legend>');
    expect(moreIn(second)).toBeUndefined();
    const columns = [lessons[1], oldest].map((lesson) => `column.${lesson?.lessonId}`);
    expect(tickedIn(second).toSorted()).toEqual([`lesson.${last.lessonId}`, last._id, ...columns].toSorted());
  });

  test('no lesson of another organization, whatever the URL', async () => {
    const { organization } = await buildOrganization(lab.harness);
    const foreign = await publishLesson(lab.harness, organization, { lesson: { title: 'A secret' } });
    const url = await beginSelection(lab);
    const fields = {
      q: 'secret',
      [`lesson.${foreign.lessonId}`]: 'on',
      [`version.${foreign.lessonId}`]: foreign._id,
    };
    const page = await ask(withQuery(url, fields));
    expect(titlesIn(page)).toEqual([]);
    expect(page.body.toString()).not.toContain('A secret');
    const refused = await sendSelection(url, fields);
    expect(refused.status).toBe(422);
    expect(refused.body.toString()).not.toContain('A secret');
  });

  test('radio buttons where the platform accepts only one lesson', async () => {
    const { lessonId } = lab.version;
    const url = await beginSelection(lab, { settings: { accept_multiple: false } });
    const page = await ask(withQuery(url, { q: 'nothing has this', lesson: lessonId }));
    expect(page.body.toString()).toContain('<h1>Choose a lesson</h1>');
    expect(page.body.toString()).toContain(`type="radio" name="lesson" value="${lessonId}" checked`);
  });

  test("texts in the platform's language, or else in one of the browser's languages", async () => {
    const arabic = await ask(await beginSelection(lab, { locale: 'ar_EG' }));
    expect(arabic.body.toString()).toContain('<html lang="ar" dir="rtl">');
    expect(arabic.body.toString()).toContain('<h1>اختر دروسًا</h1>');
    const headers = { 'accept-language': 'de-AT, de;q=0.9, en;q=0.8' };
    const german = await ask(await beginSelection(lab, { locale: 'xx' }), { headers });
    expect(german.body.toString()).toContain('<h1>Wähle Lektionen aus</h1>');
  });
});

describe('the page', () => {
  test('may be framed by pages of the platform and of the organization', async () => {
    const url = await beginSelection(lab);
    expect(policyOf(await ask(url))['frame-ancestors']).toBe('*');
    const { db } = lab.harness;
    await changeOrganization(
      db,
      { slug: lab.organization.slug },
      { allowedOrigins: ['https://school.example'] },
    );
    const page = await ask(url);
    await changeOrganization(db, { slug: lab.organization.slug }, { allowedOrigins: [] });
    const { origin } = new URL(lab.simulator.issuer);
    expect(policyOf(page)['frame-ancestors']).toBe(`https://school.example ${origin}`);
    expect(policyOf(page)['form-action']).toBe("'self'");
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
  });

  test('ignores values that its form cannot send', async () => {
    const url = await beginSelection(lab);
    const { lessonId } = lab.version;
    for (const hostile of ['', 'x'.repeat(300), '$where', '\0', '\ud800', '{"$ne":null}', '../..', '-1']) {
      const fields = {
        ...{ q: hostile, cursor: hostile, lesson: hostile, action: hostile, [`lesson.${hostile}`]: hostile },
        ...{ [`version.${lessonId}`]: hostile, [`column.${lessonId}`]: hostile, [hostile]: hostile },
      };
      expect((await ask(withQuery(url, fields))).status).toBe(200);
      expect((await sendSelection(url, { ...fields, action: 'choose' })).status).toBe(422);
    }
    expect((await ask(`${url}?q=a&q=b`)).status).toBe(422);
  });
});

describe('a selection is impossible', () => {
  const page = async (url: string) => answerOf(await fetch(url));

  test('without a request from a platform', async () => {
    for (const id of ['x', 'a'.repeat(43), '%2e%2e%2f']) {
      expectRejection(await page(`${lab.address}/lti/select/${id}`), 404, 'choice_expired');
      const body = new URLSearchParams({ action: 'cancel' });
      const sent = await fetch(`${lab.address}/lti/select/${id}`, { method: 'POST', body });
      expectRejection(await answerOf(sent), 404, 'choice_expired');
    }
  });

  test('for a removed platform', async () => {
    const { tool, platform } = await lab.register(lab.address);
    const { course, users } = lab.simulator.sample;
    const begun = await lab.launch({ user: users.teacher, deepLink: { course, tool } });
    const url = begun.headers.get('location') ?? '';
    await removePlatform(lab.harness.db, platform._id);
    expectRejection(await page(url), 404, 'choice_expired');
  });

  test('for a learner of the course', async () => {
    const { learner } = lab.simulator.sample.users;
    expectRejection(await requestSelection(lab, { user: learner }), 403, 'not_for_learners');
  });

  test('for a platform that accepts no links', async () => {
    const settings = { accept_types: ['file', 'html'] };
    expectRejection(await requestSelection(lab, { settings }), 403, 'no_accepted_type');
  });
});
