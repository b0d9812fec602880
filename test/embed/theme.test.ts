import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { replaceTheme, storeThemeFile } from '../../shared/assets/theme-files.ts';
import { publishQuiz, seeStep, useEmbedLab } from '../player/embed-page/embed-lab.ts';
import { ask } from '../support/answers.ts';
import { bootOf, embedPath } from './embed-pages.ts';

const lab = useEmbedLab();

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url));

/** Runs in the lesson's frame. */
const lookInFrame = `(() => {
  const button = getComputedStyle(document.querySelector('.lectern-steps .lectern-button:last-child'));
  const logo = document.querySelector('.lectern-logo');
  return {
    button: button.backgroundColor,
    radius: button.borderRadius,
    page: getComputedStyle(document.querySelector('.lectern-lesson')).backgroundColor,
    logo: logo && logo.complete && logo.naturalWidth > 0 ? logo.alt : null,
  };
})()`;

test('learners see the theme in the frame, and the host page chooses light or dark', async () => {
  const { db, store, organization, url } = lab.api;
  const version = await publishQuiz(lab);
  const bytes = await read('demo/lesson/media/1619c428-4d84-4e65-8c2b-8847b8aea3b0.png');
  const logo = await storeThemeFile(db, store, { kind: 'logo', name: 'logo.png', bytes });
  const theme = { color: '#00695c', radius: 1, scheme: 'dark', logo, logoAlt: 'Harbor School' } as const;
  await replaceTheme(db, { organizationId: organization._id, id: organization._id }, null, theme);

  const page = await ask(url + embedPath(version));
  expect(page.body.toString()).toMatch(/<html [^>]*data-lectern-scheme="dark"/);
  const boot = bootOf(page) as { theme: { css: string; logo: { src: string } } };
  const served = await ask(new URL(boot.theme.logo.src, url).href);
  expect(served.body.equals(bytes)).toBe(true);
  expect(served.headers.get('cache-control')).toMatch(/^public, max-age=\d{7}, immutable$/);
  expect(served.headers.get('content-security-policy')).toContain('sandbox');
  // For as long as a browser may keep it, the URL is the same.
  expect((bootOf(await ask(url + embedPath(version))) as typeof boot).theme.logo.src).toBe(
    boot.theme.logo.src,
  );

  const host = await lab.open(version, { more: "colorScheme: 'light'" });
  await seeStep(host, 's1');
  const look = () => host.lesson.locator('body').evaluate(lookInFrame);
  await expect
    .poll(look)
    .toEqual({ button: 'rgb(0, 105, 92)', radius: '1px', page: 'rgb(255, 255, 255)', logo: 'Harbor School' });
  await host.page.evaluate(`document.body.style.colorScheme = 'dark'; embed.setColorScheme('page')`);
  await expect.poll(look).toMatchObject({ page: 'rgb(18, 23, 29)' });
});

test("an organization's font loads in the frame and in the page around it", async () => {
  const { db, store, organization } = lab.api;
  const name = 'Temml.woff2';
  const bytes = await read(`node_modules/temml/dist/${name}`);
  const fontFile = await storeThemeFile(db, store, { kind: 'fontFile', name, bytes });
  const version = await publishQuiz(lab);
  await replaceTheme(db, { organizationId: organization._id, id: version.lessonId }, null, { fontFile });
  const host = await lab.open(version);
  await seeStep(host, 's1');
  for (const frame of [host.lesson, host.outer]) {
    const load = `document.fonts.load('16px "Lectern Theme"').then(([face]) => face?.status)`;
    await expect.poll(() => frame.locator('body').evaluate(load)).toBe('loaded');
  }
});
