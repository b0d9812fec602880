import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { BrowserContext, Page } from 'playwright-core';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Role } from '../../shared/accounts/permissions.ts';
import { createInvitedUser } from '../../api/accounts/invite.ts';
import { buildUser, openSession, quickHash, testPassword } from '../accounts/users.ts';
import { insertReport } from '../../shared/models/conversion-report.ts';
import { findOrCreateScore } from '../../shared/models/lti-score.ts';
import { answerTo, storeLearners } from '../learners/build-learners.ts';
import { zipFolder } from '../packages/zip-builder.ts';
import { h5pBytes, sub, text } from '../converters/h5p-file.ts';
import { playedSections, publishLesson } from '../player/player-lessons.ts';
import { faultsIn } from '../support/axe.ts';
import { testPepper } from '../support/harness.ts';
import { ask } from '../support/answers.ts';
import { buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { firefoxPath, launchFirefox } from '../support/firefox.ts';
import { buildPlatform, buildWebhook } from '../support/tenants.ts';
import { answer } from '../support/origin.ts';
import { useApi, useBrowser } from '../support/use.ts';
import { useReceiver } from '../webhooks/receiver.ts';

const receiver = useReceiver();
const api = useApi({}, { worker: true });
const browser = useBrowser();

let version: LessonVersion;
/** What no page may cause: violations of its policy, errors, requests to other hosts, and 403. */
const faults: string[] = [];

beforeAll(async () => {
  version = await publishLesson(api, api.organization, { lesson: { title: 'How tides work' } });
  const right = answerTo('q2', ['b'], { score: 2, maxScore: 2 });
  const wrong = answerTo('q2', ['a'], { score: 0, maxScore: 2, tries: 3 });
  await storeLearners(
    api.db,
    version,
    [right, wrong, right, wrong, right, right].map((item, index) => ({
      learnerId: `learner-${index}`,
      ...(index < 4 && { status: 'completed' as const, completedAt: new Date(), totalSteps: 3 }),
      ...{ score: item.score, maxScore: 3, items: [item] },
    })),
  );
});

afterAll(() => expect(faults).toEqual([]));

/** Opens a browser's context in which a user is logged in. */
async function contextOf(role: Role, options: Parameters<typeof browser.newContext>[0] = {}) {
  const { user } = await buildUser(api, { organization: api.organization, role, passwordHash: quickHash });
  const context = await browser.newContext(options);
  const { cookie } = await openSession(api.url, user);
  await context.addCookies(
    cookie.split('; ').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return { name, value: value.join('='), url: api.url };
    }),
  );
  watch(context);
  return { context, user, page: await context.newPage() };
}

async function visitorContext(options: Parameters<typeof browser.newContext>[0]) {
  const context = await browser.newContext(options);
  watch(context);
  return { context, page: await context.newPage() };
}

/** Whether a URL is of the widget that a lesson lacks. */
const isOfMissingWidget = (url: string) => /widgets\/Dial\.\w+$/.test(url);

function watch(context: BrowserContext, url = api.url): void {
  void context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('violates ' + event.violatedDirective + ' by ' + event.blockedURI))`);
  context.on('console', (message) => {
    if (message.type() !== 'error') return;
    // The listener for responses names those that are faults, with their URL.
    if (!message.text().startsWith('Failed to load resource'))
      faults.push(message.text() + message.location().url);
  });
  context.on('page', (page) => page.on('pageerror', (error) => faults.push(error.message)));
  context.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) faults.push(request.url());
  });
  context.on('response', (response) => {
    const status = response.status();
    // An expired session gets 401, and the editor of a lesson without a draft 404.
    const isExpected = status === 401 || (status === 404 && response.url().endsWith('/draft'));
    if (status >= 400 && !isExpected && !isOfMissingWidget(response.url()))
      faults.push(`${status} ${response.request().method()} ${response.url()}`);
  });
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const link = (page: Page, name: string) => page.getByRole('link', { name });

test('an author imports a file, checks and publishes it, and downloads an export', async () => {
  const { context, page } = await contextOf('author');
  const built = await buildPackage({ sections: playedSections(), lesson: { title: 'Why the sky is blue' } });
  await page.goto(`${api.url}/console`);
  await button(page, 'Import a lesson').click();
  await page.locator('input[type=file]').setInputFiles({
    ...{ name: 'sky.zip', mimeType: 'application/zip' },
    buffer: await readFile(await zipFolder(built.path)),
  });
  await page.getByText('Version 1 is imported as a draft').waitFor();
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Title of two › Title of s3 › Dial' }).click();
  const preview = await opened;
  await preview.frameLocator('iframe').locator('[data-lectern-block=dial].lectern-is-marked').waitFor();
  await preview.close();
  await button(page, 'Open the lesson').click();
  await page.getByRole('heading', { name: 'Why the sky is blue' }).waitFor();

  const { lessonId } = built;
  const sections = JSON.parse(
    JSON.stringify(playedSections()).replace('A heading', 'A new heading'),
  ) as unknown[];
  const next = await buildPackage({ lessonId, sections, lesson: { title: 'Why the sky is blue' } });
  await button(page, 'Import a version').click();
  await page.locator('input[type=file]').setInputFiles({
    ...{ name: 'sky.zip', mimeType: 'application/zip' },
    buffer: await readFile(await zipFolder(next.path)),
  });
  await page.getByText('Version 2 is imported as a draft').waitFor();
  await button(page, 'Open the lesson').click();
  await link(page, 'Changes').click();
  await page.getByText('1 block changed').waitFor();
  expect(await page.locator('dd').textContent()).toBe('A [added: new  ] heading');
  await page.goBack();

  await button(page, 'Publish').first().click();
  await page.getByRole('dialog').getByRole('status').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('table').getByText('Published', { exact: true }).waitFor();

  await button(page, 'Undo').click();
  await page.getByText('is no longer published').waitFor();
  await page.getByRole('button', { name: 'Messages' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('table').getByText('Published', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Exports', exact: true }).click();
  const row = page.getByRole('row', { name: 'Archive with player' });
  await row.getByRole('button', { name: 'Build' }).click();
  const downloading = page.waitForEvent('download');
  await row.getByRole('link', { name: 'Download' }).click();
  expect((await downloading).suggestedFilename()).toMatch(/-v2.*\.zip$/);
  expect(await link(page, 'Learners').count()).toBe(0);

  await link(page, 'Lessons').first().click();
  await button(page, 'Import a lesson').click();
  const template = page.waitForEvent('download');
  await button(page, 'Excel').click();
  expect((await template).suggestedFilename()).toBe('questions.xlsx');
  const content = [text('<p>The Moon pulls.</p>'), sub('Timeline', {}, { title: 'Moon landings' })];
  await page.locator('input[type=file]').setInputFiles({
    ...{ name: 'moon.h5p', mimeType: 'application/zip' },
    buffer: h5pBytes({ type: 'Column', params: { content: content.map((item) => ({ content: item })) } }),
  });
  await page.getByText('1 element left out').waitFor();
  await page.getByRole('row', { name: 'Moon landings' }).getByText('Left out').waitFor();
  await button(page, 'Open the lesson').click();
  await page.getByRole('button', { name: 'More actions for version 1' }).click();
  await page.getByRole('menuitem', { name: 'Report of the import' }).click();
  const shown = context.waitForEvent('page');
  await page.getByRole('row', { name: 'H5P.AdvancedText' }).getByRole('button').click();
  await (await shown).frameLocator('iframe').locator('.lectern-is-marked').waitFor();
  await page.getByLabel('Result').selectOption('Left out (1)');
  expect(await page.getByRole('row').count()).toBe(2);

  const broken = await buildVersion(api, api.organization, built.path);
  await api.db.lessonContents.deleteMany({ versionId: broken._id });
  await ask(api.url + exportPath(broken), { headers: api.headers });
  await link(page, 'Recent exports').click();
  await page.getByRole('row', { name: 'Archive with player' }).getByText('Ready').waitFor();
  await button(page, 'Retry all failed').click();
  await page.getByText('1 export is built again.').waitFor();

  await link(page, 'Lessons').first().click();
  await button(page, 'Create a lesson').click();
  await page.getByRole('dialog').getByLabel('Title').fill('The sea');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a lesson' }).click();
  await page.getByRole('tree', { name: 'Outline' }).waitFor();
  await link(page, 'Back to the lesson').click();
  await page.getByRole('button', { name: 'More actions for version 1' }).click();
  await page.getByRole('menuitem', { name: 'Copy this version' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Copy this version' }).click();
  await page.getByRole('heading', { name: 'The sea (copy)' }).waitFor();
  await context.close();
});

test('a teacher gets from the list to a learner’s wrong answer, and Back and reload keep the filters', async () => {
  const { context, page } = await contextOf('teacher');
  await page.goto(`${api.url}/console/lessons?status=published`);
  await page.getByRole('searchbox', { name: 'Search lessons' }).fill('tides');
  await link(page, 'How tides work').click();
  await link(page, 'Learners').click();
  await page.getByLabel('Status').selectOption('Completed');
  await page.getByText('4 shown').waitFor();
  await page.reload();
  await page.getByText('4 shown').waitFor();
  await link(page, 'learner-1').click();
  const answer = page.getByRole('row', { name: '2.1' });
  await answer.getByText('0 of 2').waitFor();
  expect(await answer.innerText()).toContain('Right answer: b');
  await page.goBack();
  await page.getByText('4 shown').waitFor();
  expect(new URL(page.url()).search).toBe('?status=completed');
  await page.goBack();
  await page.goBack();
  await page.goBack();
  expect(await page.getByRole('searchbox', { name: 'Search lessons' }).inputValue()).toBe('tides');

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('tides');
  await page.getByRole('option', { name: /^How tides work/ }).click();
  await link(page, 'Statistics').click();
  await page.getByRole('heading', { name: 'Where learners stop' }).waitFor();
  expect(await button(page, 'Publish').count()).toBe(0);
  await context.close();
});

test('an operator creates an organization, whose administrator sets a password with a link', async () => {
  const { context, page } = await contextOf('operator');
  await page.goto(`${api.url}/console`);
  await button(page, 'Create an organization').first().click();
  await page.getByLabel('Name').fill(`Harbor School ${randomUUID()}`);
  expect(await page.getByLabel('Slug').inputValue()).toMatch(/^harbor-school-/);
  await page.getByRole('dialog').getByRole('button', { name: 'Create an organization' }).click();
  await page.getByLabel('Email').fill(`${randomUUID()}@harbor.example`);
  await button(page, 'Create the link').click();
  const invitation = await page.getByRole('dialog').locator('pre').innerText();
  await button(page, 'I’ve stored it').click();
  await link(page, 'Health').click();
  await page.getByText('Workers', { exact: true }).waitFor();
  await context.close();

  const visitor = await browser.newContext();
  watch(visitor);
  const invited = await visitor.newPage();
  await invited.goto(invitation);
  await invited.getByLabel('Password', { exact: true }).fill('a password of an administrator');
  expect(new URL(invited.url()).hash).toBe('');
  await button(invited, 'Set the password and log in').click();
  await invited.getByText('No lessons yet').waitFor();
  await link(invited, 'Users').click();
  await invited.getByText('Administrator').waitFor();
  await visitor.close();
});

test('an administrator creates a webhook, although the session ends in the form, and resends a delivery', async () => {
  const { context, page, user } = await contextOf('admin');
  receiver.script('/hook', answer(500, {}, 'out of order'));
  await page.goto(`${api.url}/console/webhooks`);
  await button(page, 'Create a webhook').first().click();
  await page.getByLabel('URL').fill(receiver.url());
  await page.getByLabel('Description').fill('Our course platform');
  await context.clearCookies();
  await page.getByRole('dialog').getByRole('button', { name: 'Create a webhook' }).click();
  const again = page.getByRole('dialog', { name: 'Log in to continue' });
  expect(await again.getByLabel('Email').inputValue()).toBe(user.email);
  await again.getByLabel('Password').fill(testPassword);
  await again.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('Store it now').waitFor();
  await button(page, 'I’ve stored it').click();
  await page.getByText('Our course platform').waitFor();

  await button(page, 'Send a test event').first().click();
  await page.getByRole('cell', { name: '500' }).waitFor();
  await link(page, 'Deliveries').click();
  await button(page, 'ping').click();
  await page.getByRole('dialog').getByText('out of order').waitFor();
  await page.keyboard.press('Escape');
  await button(page, 'Dismiss').click();
  await page.getByLabel('Status').selectOption('Dismissed');
  await page.getByRole('row', { name: 'ping' }).getByText('Dismissed').waitFor();
  receiver.script('/hook', answer(204));
  await button(page, 'Resend').click();
  await page.getByText('Nothing matches').waitFor();
  await page.goBack();
  await page.getByRole('row', { name: 'ping' }).getByText('Delivered').waitFor();
  await context.close();
});

test('an administrator connects a platform with the values of its set-up page, and resends one grade', async () => {
  const { context, page } = await contextOf('admin');
  await page.goto(`${api.url}/console/platforms`);
  await link(page, 'Connect a platform').first().click();
  await page.getByLabel('Platform').selectOption('Canvas');
  await page.getByLabel('Way').selectOption('By hand');
  await button(page, 'Create the values').click();
  const values = page.locator('.steps');
  await values.getByText(`${api.url}/lti/login`).waitFor();
  const keys = await values.getByText(`${api.url}/lti/jwks/`).innerText();
  await page.getByLabel('Client ID').fill('10000000000001');
  await page.getByLabel('Deployment Id').fill('7:abc');
  await button(page, 'Connect').click();
  await page.getByRole('heading', { name: 'Canvas' }).waitFor();
  await page.getByText(keys).waitFor();

  const platformId = page.url().split('/').at(-1) ?? '';
  const learner = { organizationId: api.organization._id, platformId, contextId: null, linkId: 'link' };
  const row = { ...learner, lessonId: version.lessonId, ltiUserId: 'ann' };
  const { _id } = await findOrCreateScore(api.db, row);
  const at = new Date();
  const wanted = { scoreGiven: 80, scoreMaximum: 100, finishedAt: at };
  const failure = { at, since: at, reason: 'refused', status: 422, body: 'no attempt is left' };
  await api.db.ltiScores.updateOne({ _id }, { state: 'failed', failure, wanted });
  await page.reload();
  await page.getByRole('row', { name: 'Allow more, then resend. (422)' }).waitFor();
  await button(page, 'ann').click();
  await page.getByRole('dialog').getByText('no attempt is left').waitFor();
  await page.keyboard.press('Escape');
  await button(page, 'Resend').click();
  await page.getByText('Nothing matches').or(page.getByText('No grade has failed')).waitFor();
  expect((await api.db.ltiScores.findById(_id).lean().orFail()).state).not.toBe('failed');
  await context.close();
});

test('a lesson shows another look while an administrator chooses it, where few pages may frame lessons', async () => {
  const { context, page } = await contextOf('admin');
  const ofOrganization = { _id: api.organization._id };
  await api.db.organizations.updateOne(ofOrganization, { allowedOrigins: ['https://school.example'] });
  await page.goto(`${api.url}/console/theme?lesson=${version.lessonId}`);
  const radius = () =>
    page
      .frames()
      .find((frame) => frame.url().endsWith('/frame.html'))
      ?.evaluate<string>(`getComputedStyle(document.body).getPropertyValue('--lectern-radius').trim()`);
  await page.getByRole('slider').fill('3');
  await expect.poll(radius, { timeout: 20_000 }).toBe('3px');
  await page.getByRole('slider').fill('7');
  await expect.poll(radius).toBe('7px');
  expect(await api.db.themes.countDocuments(ofOrganization)).toBe(0);
  await button(page, 'Save').click();
  await page.getByText('The look is saved.').waitFor();
  expect((await api.db.themes.findOne(ofOrganization).lean().orFail()).theme).toEqual({ radius: 7 });
  await api.db.organizations.updateOne(ofOrganization, { allowedOrigins: [] });
  await context.close();
});

test('a late response does not replace that of a later request', async () => {
  const { context, page } = await contextOf('admin');
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isFirst = true;
  await page.route('**/api/users', async (route) => {
    if (route.request().method() !== 'GET') return route.continue();
    const isLate = isFirst;
    isFirst = false;
    const response = await route.fetch();
    if (isLate) await released;
    return route.fulfill({ response });
  });
  await page.goto(`${api.url}/console/users`);
  const email = `${randomUUID()}@example.com`;
  await button(page, 'Invite a user').first().click();
  await page.getByLabel('Email').fill(email);
  await button(page, 'Create the link').click();
  await button(page, 'I’ve stored it').click();
  await page.getByRole('row', { name: email }).waitFor();
  const late = page.waitForResponse('**/api/users');
  release();
  await (await late).finished();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  expect(await page.getByRole('row', { name: email }).count()).toBe(1);
  expect(await page.locator('[aria-busy=true]').count()).toBe(0);
  await context.close();
});

test('a visitor logs in at any URL, and a logout leaves no data', async () => {
  const { user } = await buildUser(api, { organization: api.organization, passwordHash: quickHash });
  const context = await browser.newContext();
  watch(context);
  const page = await context.newPage();
  await page.goto(`${api.url}/console/lessons?title=tides`);
  await page.getByLabel('Email').fill(user.email);
  await page.getByLabel('Password').fill('not the password');
  await button(page, 'Log in').click();
  await page.getByText('Email or password is wrong.').waitFor();
  await page.getByLabel('Password').fill(testPassword);
  await button(page, 'Log in').click();
  await link(page, 'How tides work').waitFor();
  expect(new URL(page.url()).search).toBe('?title=tides');
  await page.getByRole('button', { name: user.email }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByLabel('Password').waitFor();
  expect(await page.getByText('How tides work').count()).toBe(0);
  await context.close();
});

test('an administrator who needs two-step login is led to it, sets it up, and gets to the page of the URL', async () => {
  const strict = await api.startApi({ TWO_STEP_LOGIN: 'admins' });
  const { user } = await buildUser(api, {
    ...{ organization: api.organization, role: 'admin', passwordHash: quickHash },
  });
  const context = await browser.newContext({ bypassCSP: true });
  watch(context, strict);
  const page = await context.newPage();
  const logIn = async () => {
    await page.getByLabel('Email').fill(user.email);
    await page.getByLabel('Password').fill(testPassword);
    await button(page, 'Log in').click();
  };
  await page.goto(`${strict}/console/users`);
  await logIn();
  await page.getByText('Set up two-step login to continue').waitFor();
  await button(page, 'Set up').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  expect(await faultsIn(page)).toEqual([]);
  const secret = await dialog.locator('code').innerText();
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await dialog.getByLabel('Code from the app').fill(code);
  await dialog.getByLabel('Current password').fill(testPassword);
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('dialog', { name: 'Your recovery codes' }).waitFor();
  const codes = (await dialog.locator('pre').innerText()).split('\n');
  expect(codes).toHaveLength(10);
  await button(page, 'I’ve stored it').click();
  await page.getByRole('heading', { name: 'Users' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/console/users');

  const account = async (item: string) => {
    await page.getByRole('button', { name: user.email }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await account('Log out');
  await logIn();
  await page.getByLabel('Code').fill(codes[0] ?? '');
  await button(page, 'Log in').click();
  await account('Account');
  await button(page, 'Turn off two-step login').click();
  await dialog.getByLabel('Code from the app').fill(codes[1] ?? '');
  await dialog.getByRole('button', { name: 'Turn off two-step login' }).click();
  await page.getByText('Set up two-step login to continue').waitFor();
  await context.close();
});

test.skipIf(firefoxPath === undefined)('a teacher logs in and filters learners in Firefox', async () => {
  const { user } = await buildUser(api, {
    ...{ organization: api.organization, role: 'teacher' as const, passwordHash: quickHash },
  });
  const firefox = await launchFirefox();
  onTestFinished(() => firefox.close());
  const page = await firefox.newPage();
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(`${api.url}/console/lessons/${version.lessonId}/learners`);
  const shows = (text: string) => page.waitForFunction(`document.body.innerText.includes('${text}')`);
  await page.locator('input[type=email]').fill(user.email);
  await page.locator('input[type=password]').fill(testPassword);
  await page.locator('button[type=submit]').click();
  await shows('6 shown');
  await page.select('main select', 'completed');
  await shows('4 shown');
  await page.locator('a[href$="/learner-1"]').click();
  await shows('0 of 2');
  await page.goBack();
  await shows('4 shown');
});

test.each<[role: Role | 'visitor', paths: () => string[] | Promise<string[]>]>([
  ['admin', pathsOfAdmins],
  ['operator', () => ['/organizations', '/operators', '/all-exports', '/health']],
  ['visitor', pathsOfVisitors],
])(
  'every page of the role %s is accessible: light, dark, on phones, and from right to left',
  async (role, pathsOf) => {
    const options = { bypassCSP: true };
    const { context, page } =
      role === 'visitor' ? await visitorContext(options) : await contextOf(role, options);
    const paths = await pathsOf();
    const open = async (path: string) => {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
      await page.waitForFunction(
        `document.querySelector('h1, .empty') && !document.querySelector('[aria-busy=true], progress:not([value])')`,
      );
    };
    const looks = [
      { colorScheme: 'light', width: 1280 },
      { colorScheme: 'dark', width: 1280 },
      { colorScheme: 'light', width: 390 },
      { colorScheme: 'dark', width: 390 },
    ] as const;
    for (const [language, direction, shown] of [
      ['en', 'ltr', looks],
      ['ar', 'rtl', [looks[0], looks[3]]],
    ] as const) {
      await page.goto(`${api.url}/console`);
      await page.evaluate(`localStorage.setItem('lectern.console.language', '${language}')`);
      await page.reload();
      await page.locator('table, input[type=password]').first().waitFor();
      expect(await page.evaluate('document.documentElement.dir')).toBe(direction);
      for (const path of paths) {
        await open(path);
        for (const { colorScheme, width } of shown) {
          const where = { path, colorScheme, width };
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          // Nothing but colors differs between the schemes.
          const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
          expect({ ...where, faults: await faultsIn(page, rules) }).toEqual({ ...where, faults: [] });
          // Without a scroll bar, the room for it counts as negative.
          const overflow = `Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)`;
          expect({ ...where, overflow: await page.evaluate(overflow) }).toEqual({ ...where, overflow: 0 });
        }
      }
    }
    await context.close();
  },
);

/** Returns a path of each page that administrators may open, and of one that does not exist. */
async function pathsOfAdmins(): Promise<string[]> {
  const { webhookId, destinationId } = await buildWebhook(api, api.organization);
  const issuer = await buildPlatform(api, api.organization);
  const platform = await api.db.ltiPlatforms.findOne({ issuer }).lean().orFail();
  const own = [
    '/theme',
    '/audit',
    '/users',
    '/keys',
    '/settings',
    '/retention',
    '/account',
    '/kit',
    '/nowhere',
  ];
  const integrations = [
    ...['/webhooks', `/webhooks/${webhookId}`, '/destinations', `/destinations/${destinationId}`],
    ...['/deliveries', '/exports', '/platforms', '/platforms/connect', `/platforms/${platform._id}`],
  ];
  const { lessonId } = version;
  const changed = await publishLesson(api, api.organization, { lessonId, publish: false, sections: [] });
  expect(changed.versionNumber).toBe(2);
  const entry = { path: 'a.gift:1', kind: 'essay', title: 'Why?', stepId: 's1', blockId: 'b1' };
  const entries = (['converted', 'partial', 'kept', 'dropped'] as const).map((result) => ({
    ...{ ...entry, result, reason: result === 'converted' ? null : 'its picture' },
  }));
  await insertReport(api.db, changed._id, { format: 'gift', entries });
  const ofLesson = [
    ...['', '/changes', '/exports', '/embed', '/learners', '/learners/learner-1', '/statistics'],
    `/report/${changed._id}`,
  ];
  return ['/lessons', ...integrations, ...own, ...ofLesson.map((part) => `/lessons/${lessonId}${part}`)];
}

/** Returns the paths of a login and of an invitation. */
async function pathsOfVisitors(): Promise<string[]> {
  const { _id: organizationId } = api.organization;
  const invited = { organizationId, email: `${randomUUID()}@example.com`, role: 'author' as const };
  const { token } = await createInvitedUser(api.db, testPepper, invited, { id: randomUUID(), by: 'ada' });
  return ['/lessons', `/invitation#${token}`];
}
