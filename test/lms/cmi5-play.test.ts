import { randomUUID } from 'node:crypto';
import { createServer } from 'node:https';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { filesOf } from '../exports/exports.ts';
import { useExportLab } from '../exports/lab.ts';
import { createCertificate } from '../support/certificate.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { temporaryFolder } from '../support/folders.ts';
import { listen } from '../support/serve.ts';
import { useBrowser } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { verbOf } from './cmi5-rules.ts';
import { answerStep, goOn, heading, playToEnd, reachableFrom, stateOn } from './learner.ts';
import { buildQuiz, hostileTitle, questions, sections } from './lessons.ts';
import { startCmi5Platform } from './lrs.ts';
import { readXml } from './xml-schemas.ts';
import type { Cmi5Platform, LaunchSettings } from './lrs.ts';

/* cmi5 packages in Chromium, with a platform that rejects what the requirements forbid. */

const validation = createRequire(import.meta.url)('@learninglocker/xapi-validation') as {
  default: (statement: unknown) => unknown[];
};
const lab = useExportLab({}, { worker: true });
const browser = useBrowser();
let version: LessonVersion;

beforeAll(async () => {
  version = await buildVersion(lab.harness, lab.organization, (await buildQuiz()).path);
});

const packageFiles = async (options = '') =>
  filesOf((await lab.get(version, { query: `?format=cmi5${options}` })).body);

const start = async (options?: string) => startWith(await packageFiles(options));

async function startWith(files: ReadonlyMap<string, Buffer>) {
  const platform = await startCmi5Platform(files);
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  onTestFinished(() => context.close());
  const registration = randomUUID();
  return {
    ...{ platform, registration },
    launch: async (settings?: LaunchSettings): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(platform.launch(registration, settings));
      await heading(page).waitFor();
      return page;
    },
    /** Closes the tab, and waits for the end of the session. */
    close: async (page: Page): Promise<void> => {
      const ended = () =>
        platform.statements(registration).filter((one) => verbOf(one) === 'terminated').length;
      const before = ended();
      await page.close();
      await waitFor('the end of the session', () => ended() > before);
    },
  };
}

/** Returns the verbs that cmi5 defines, by session, after checking all statements. */
function definedVerbs(platform: Cmi5Platform, registration: string): string[][] {
  expect(platform.violations).toEqual([]);
  const sessions = new Map<string, string[]>();
  for (const { session = '', ...statement } of platform.statements(registration)) {
    expect(validation.default(statement)).toEqual([]);
    const list = sessions.get(session) ?? [];
    sessions.set(session, list);
    if (!['answered', 'progressed'].includes(verbOf(statement))) list.push(verbOf(statement));
  }
  return [...sessions.values()];
}

test('over two sessions and a reload, a learner completes and passes once, without a violation', async () => {
  const { platform, registration, launch, close } = await start('&passMark=60');
  const first = await launch({ masteryScore: 0.6 });
  await goOn(first);
  await answerStep(first);
  const left = await stateOn(first);
  // A page cannot tell a reload from the end: the platform has ended the session.
  await first.reload();
  await first.getByText('isn’t connected to your learning platform').waitFor();
  await answerStep(first);
  await first.close();
  const second = await launch({ masteryScore: 0.6 });
  expect(await stateOn(second)).toEqual(left);
  await playToEnd(second);
  await close(second);
  const third = await launch({ masteryScore: 0.6 });
  await close(third);
  expect(definedVerbs(platform, registration)).toEqual([
    ['initialized', 'terminated'],
    ['initialized', 'completed', 'passed', 'terminated'],
    ['initialized', 'terminated'],
  ]);
  const passed = platform.statements(registration).find((one) => verbOf(one) === 'passed');
  expect(passed?.result).toMatchObject({ success: true, score: { scaled: 0.7, raw: 350, min: 0, max: 500 } });
});

test('the fetch URL may redirect to another https server of the platform', async () => {
  const certificate = createCertificate(await temporaryFolder());
  const server = createServer(certificate, ({ url = '', headers: { origin = '*' } }, response) => {
    const token = new URL(url, 'https://server').searchParams.get('token');
    response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': origin });
    response.end(JSON.stringify({ 'auth-token': token }));
  });
  const { origin, close } = await listen(server);
  onTestFinished(close);
  const { platform, registration, launch, close: end } = await start();
  await end(await launch({ fetchRedirect: origin.replace('http:', 'https:') }));
  expect(definedVerbs(platform, registration)).toEqual([['initialized', 'terminated']]);
});

test('the store gets each answer in the encoding of SCORM 2004, and a missed mastery score at the end', async () => {
  const { platform, registration, launch, close } = await start('&passMark=60');
  // A statement that the LRS rejects with 401 does not delay the others, and a login page takes none.
  const page = await launch({ masteryScore: 0.8, refusedVerb: 'progressed', loginPage: 'statements' });
  await playToEnd(page);
  await close(page);
  const answers = platform.statements(registration).filter((one) => verbOf(one) === 'answered');
  expect(answers.map(({ result }) => result)).toMatchObject([
    { response: 'a', success: true, score: { scaled: 1 } },
    { response: 'a', success: false, score: { scaled: 0.5 } },
    { response: expect.stringContaining('own words') as string },
  ]);
  expect(definedVerbs(platform, registration)).toEqual([
    ['initialized', 'completed', 'failed', 'terminated'],
  ]);
});

test('a score just below the mastery score is not rounded up to it, and statements name the language of the lesson', async () => {
  const { single } = questions;
  const other = { ...single, props: { ...single.props, id: 'choice-3', points: 1, correct: ['wave'] } };
  const [section] = sections;
  const steps = section?.steps.map((step) => ({ ...step, content: { root: {}, content: [single, other] } }));
  const built = await buildQuiz({
    lesson: { language: 'cy' },
    sections: [{ ...section, steps: steps?.slice(1) }],
  });
  const thirds = await buildVersion(lab.harness, lab.organization, built.path);
  const { body } = await lab.get(thirds, { query: '?format=cmi5' });
  const { platform, registration, launch, close } = await startWith(await filesOf(body));
  const page = await launch({ masteryScore: 0.66668 });
  await playToEnd(page);
  await close(page);
  expect(definedVerbs(platform, registration)).toEqual([
    ['initialized', 'completed', 'failed', 'terminated'],
  ]);
  const failed = platform.statements(registration).find((one) => verbOf(one) === 'failed');
  expect(failed?.result).toMatchObject({ score: { scaled: 0.6666, raw: 200, max: 300 } });
  const answered = platform.statements(registration).find((one) => verbOf(one) === 'answered');
  expect(answered?.object).toMatchObject({ definition: { name: { cy: 'Which one & why?' } } });
});

test('in mode Review, only the session is recorded', async () => {
  const { platform, registration, launch, close } = await start();
  const page = await launch({ launchMode: 'Review' });
  await goOn(page);
  await answerStep(page);
  await page.getByText('don’t record').waitFor();
  await close(page);
  expect(definedVerbs(platform, registration)).toEqual([['initialized', 'terminated']]);
  expect(platform.statements(registration)).toHaveLength(2);
});

test('Exit ends the session after everything is stored, and returns to the platform', async () => {
  const { platform, registration, launch } = await start();
  const page = await launch({ returnUrl: true });
  await goOn(page);
  await page.getByRole('button', { name: 'Save and exit' }).click();
  await page.waitForURL(`${platform.url}/return`);
  expect(definedVerbs(platform, registration)).toEqual([['initialized', 'terminated']]);
  // Platforms may reject the token after the end of the session, also for the state.
  expect(platform.writes.slice(-2)).toEqual(['state', 'statements']);
});

test('the page sends only to the store and the fetch URL of its launch, and to https URLs', async () => {
  const { launch } = await start();
  const page = await launch();
  const { lecternLaunch } = await page.evaluate<{ lecternLaunch: string }>('history.state');
  const allowed = [
    './manifest.json',
    '/lrs/activities/state',
    new URLSearchParams(lecternLaunch).get('fetch') ?? '',
  ];
  const others = ['/lrs', '/return', '/fetch/', 'http://127.0.0.1:9/'];
  expect(await reachableFrom(page, [...allowed, ...others])).toEqual(allowed);
});

test('a custom widget reaches neither the store nor other servers, and does not learn who plays', async () => {
  const spy = `export default { mount(element) {
    const { href, origin } = new URL('.', document.baseURI);
    const urls = [origin + '/lrs/statements', 'https://127.0.0.1:9/', href + 'manifest.json'];
    const reached = (url) => fetch(url, { mode: 'no-cors' }).then(() => true, () => false);
    const name = /ann|registration/i.test(document.baseURI + document.referrer + location.href);
    Promise.all(urls.map(reached)).then((all) => element.append(JSON.stringify({ all, name })));
    addEventListener('securitypolicyviolation', ({ blockedURI }) => element.append(' blocked ' + blockedURI));
    return { destroy() {} };
  } };`;
  const { db, store } = lab.harness;
  const organizationId = lab.organization._id;
  await releaseWidget(db, store, { organizationId, type: 'Spy', js: bytesOf(Buffer.from(spy)), css: null });
  const { path } = await buildPackage({ blocks: () => [{ type: 'Spy', props: { id: 'spy' } }] });
  const spied = await buildVersion(lab.harness, lab.organization, path);
  const files = await filesOf((await lab.get(spied, { query: '?format=cmi5' })).body);
  const { launch, platform } = await startWith(files);
  const widget = (await launch()).frameLocator('.lectern-widget-frame').locator('body');
  await expect.poll(() => widget.textContent()).toContain('{"all":[false,false,');
  const shown = (await widget.textContent()) ?? '';
  expect(shown).toContain('"name":false');
  for (const url of [`blocked ${platform.url}/lrs/statements`, 'blocked https://127.0.0.1:9/'])
    expect(shown).toContain(url);
});

test('a state that the store cannot return is not overwritten', async () => {
  const { platform, launch, close } = await start();
  const first = await launch();
  await goOn(first);
  const left = await stateOn(first);
  await close(first);
  const writes = platform.writes.length;
  const broken = await launch({ stateStatus: 503 });
  await broken.getByText('isn’t connected to your learning platform').waitFor();
  await goOn(broken);
  await broken.close();
  expect(platform.writes).toHaveLength(writes);
  expect(await stateOn(await launch())).toEqual(left);
});

test('a hostile title gives a valid cmi5.xml', async () => {
  const described = ['title', 'langstring', 'description', 'langstring'];
  const built = await buildQuiz({ lesson: { title: hostileTitle } });
  const hostile = await buildVersion(lab.harness, lab.organization, built.path);
  const { body } = await lab.get(hostile, { query: '?format=cmi5&passMark=62.5' });
  const course = ['course', ...described];
  const { names, texts } = readXml(String((await filesOf(body)).get('cmi5.xml')));
  expect(names).toEqual(['courseStructure', ...course, 'au', ...described, 'url']);
  expect(texts[0]).toContain(`<b>"Fish" & 'chips'</b> ]]> &amp; </title>`);
});

test('the course has ids that stay the same over versions, and the options decide what moves on', async () => {
  const structure = async (options = '') => String((await packageFiles(options)).get('cmi5.xml'));
  const id = `${lab.api}/xapi/lessons/${version.lessonId}`;
  expect(await structure()).toContain(`<au id="${id}/au" moveOn="CompletedOrPassed" launchMethod`);
  expect(await structure('&passMark=62.5')).toContain('moveOn="CompletedAndPassed" masteryScore="0.625"');
  expect(await structure('&passMark=50&completion=passed')).toContain('moveOn="Passed" masteryScore="0.5"');
});
