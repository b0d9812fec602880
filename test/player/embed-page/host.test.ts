import { expect, test } from 'vitest';
import { changeOrganization } from '../../../shared/models/organization.ts';
import { buildLearnerToken, buildOrganization } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  choose,
  hostPage,
  press,
  publishQuiz,
  reloadFrame,
  seeNotice,
  seeStep,
  useEmbedLab,
} from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';

const lab = useEmbedLab();

/** Makes the server reject a token, as if it had expired. */
async function reject({ page }: HostPage, token: string): Promise<void> {
  await page.route(`**/session?token=${token}`, (route) =>
    route.fulfill({ status: 401, json: { error: 'Token verification failed: jwt expired' } }),
  );
}

async function seeErrors({ errorCodes }: HostPage, codes: string[]): Promise<void> {
  await expect.poll(errorCodes).toEqual(codes);
}

test('the frame requests a new token before expiry and the lesson continues with it; URLs of media are renewed, too', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  await context.clock.install();
  const [token, fresh] = [buildLearnerToken(version), buildLearnerToken(version, { seconds: 86_400 })];
  const { learner } = await lab.start({ version, context, token, more: `getToken: () => '${fresh}'` });
  await reject(learner, token);
  const renewed = learner.page.waitForResponse(`**/session?token=${fresh}`);
  // A tenth of its ten minutes before it expires.
  await context.clock.fastForward('09:05');
  expect(await learner.event('token.expiring')).toMatchObject({ expiresAt: expect.any(String) as string });
  await (await renewed).finished();
  await press(learner, 'Next');
  await choose(learner, 'b');
  await lab.seeSaved(version, { q2: ['b'] });

  const content = learner.page.waitForResponse((response) => response.url().includes('/content?'));
  await context.clock.fastForward('06:00:00');
  expect(await (await content).json()).toMatchObject({ versionId: version._id });
  await press(learner, 'Next');
  await seeStep(learner, 's3');
});

test('an expired token without a successor keeps the answers and shows a notice; a later token saves them', async () => {
  const version = await publishQuiz(lab);
  const token = buildLearnerToken(version);
  const { learner } = await lab.start({ version, token });
  await reject(learner, token);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await seeNotice(learner, 'Your session has ended.');
  await press(learner, 'Next');
  expect(await lab.progressOf(version)).toMatchObject({ items: null });

  await learner.page.evaluate(`embed.setToken('${buildLearnerToken(version)}')`);
  await seeNotice(learner, 'Everything is saved.');
  expect(await lab.progressOf(version)).toMatchObject({ score: 2, currentSectionIndex: 1 });
});

test('the frame requests a token again when one is rejected, because the host page may have been offline before', async () => {
  const version = await publishQuiz(lab);
  const [token, fresh] = [buildLearnerToken(version), buildLearnerToken(version, { seconds: 900 })];
  const { learner } = await lab.start({ version, token, more: `getToken: async () => '${fresh}'` });
  await reject(learner, token);
  await press(learner, 'Next');
  await lab.seeRecord(version, { currentStepIndex: 1 });
});

test('a token of another learner or lesson, an invalid one, or one from a page that is not the parent is rejected', async () => {
  const [{ version, learner }, other] = [await lab.start(), await publishQuiz(lab)];
  const ofAnother = buildLearnerToken(version, { learnerId: 'another learner' });
  const message = JSON.stringify({ source: 'lectern', v: 1, type: 'setToken', token: ofAnother });
  // The frame of another page posts a message that only the parent may send.
  await learner.page.evaluate(`new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.srcdoc = '<script>' + ${JSON.stringify(`parent.frames[0].postMessage(${message}, '*'); parent.postMessage('sent', '*');`)} + '</' + 'script>';
    addEventListener('message', ({ data }) => data === 'sent' && resolve());
    document.body.append(frame);
  })`);
  // Messages are handled in order: once these get a response, all earlier ones have been handled. Only three errors are reported.
  const codes = ['token_invalid', 'token_mismatch', 'wrong_lesson'];
  for (const [index, token] of ['not.a.token', ofAnother, buildLearnerToken(other)].entries()) {
    await learner.page.evaluate(`embed.setToken('${token}')`);
    await seeErrors(learner, codes.slice(0, index + 1));
  }
  await press(learner, 'Next');
  await choose(learner, 'b');
  await lab.seeSaved(version, { q2: ['b'] });
  expect(await lab.progressOf(version, 'another learner')).toBeNull();
});

test('a frame without a token waits for one, shows a step requested before, and reuses the token after a reload', async () => {
  const version = await publishQuiz(lab);
  const more = `getToken: () => new Promise((resolve) => { give = () => resolve('${buildLearnerToken(version)}'); })`;
  const learner = await lab.open(version, { token: '', more });
  await learner.page.evaluate(`embed.goTo('s3')`);
  expect(await learner.event('token.expiring')).toEqual({ type: 'token.expiring', expiresAt: null });
  await learner.page.evaluate('give()');
  await seeStep(learner, 's3');
  await press(learner, 'Back');
  await lab.seeRecord(version, { currentStepIndex: 1 });
  await reloadFrame(learner);
  await seeStep(learner, 's2');
});

test('the frame requests a token again from a host page that failed to provide one, and the learner sees a notice', async () => {
  const version = await publishQuiz(lab);
  // A server that is down, then a proxy's page instead of a token.
  const failing = `(window.asked ? '<h1>Bad gateway</h1>' : Promise.reject(new Error(asked = '503')))`;
  const more = `getToken: () => window.isUp ? '${buildLearnerToken(version)}' : ${failing}`;
  const learner = await lab.open(version, { token: '', more });
  const text = 'We can’t open the lesson right now. We’ll keep trying.';
  await learner.outer.getByRole('status').getByText(text).waitFor();
  expect(await learner.event('error')).toMatchObject({ code: 'token_not_given' });
  await learner.page.evaluate('isUp = true');
  await seeStep(learner, 's1');
});

test("where the host page provides the token, the tab does not resume the previous learner's session", async () => {
  const { version, learner } = await lab.start();
  await press(learner, 'Next');
  await lab.seeRecord(version, { currentStepIndex: 1 });
  await learner.page.goto(lab.hostOrigin);
  const token = buildLearnerToken(version, { learnerId: 'learner-2' });
  const next = hostPage(learner.page);
  await next.mount(`lessonId: '${version.lessonId}', getToken: async () => '${token}'`);
  await seeStep(next, 's1');
  await waitFor('the first view', () => lab.progressOf(version, 'learner-2'));
});

test('the host page replaces an expired token once, and gets no further request when the new one is invalid', async () => {
  const version = await publishQuiz(lab);
  const expired = buildLearnerToken(version, { seconds: -60 });
  const more = (token: string) =>
    `getToken: () => { window.asked = (window.asked ?? 0) + 1; return '${token}'; }`;
  const learner = await lab.open(version, { token: expired, more: more(buildLearnerToken(version)) });
  await seeStep(learner, 's1');
  expect(await learner.errorCodes()).toEqual(['token_expired']);

  const failing = await lab.open(version, { token: expired, more: more(expired) });
  await seeErrors(failing, ['token_expired', 'token_expired']);
  expect(await failing.page.evaluate('asked')).toBe(1);
});

test('a page that the organization does not allow gets no lesson; an allowed page does', async () => {
  const { organization } = await buildOrganization(lab.api);
  const version = await publishQuiz(lab, { organization });
  await changeOrganization(
    lab.api.db,
    { slug: organization.slug },
    { allowedOrigins: ['https://lms.example'] },
  );
  const blocked = await lab.open(version);
  await waitFor("the frame's error", () =>
    blocked.page.frames().some((frame) => frame.url().startsWith('chrome-error:')),
  );
  expect(await blocked.events()).toEqual([]);

  const origins = ['https://lms.example', lab.hostOrigin];
  await changeOrganization(lab.api.db, { slug: organization.slug }, { allowedOrigins: origins });
  const allowed = await lab.open(version);
  expect(await allowed.event('ready')).toMatchObject({ lessonId: version.lessonId });
});

test('an element with a lesson id mounts by itself and dispatches DOM events', async () => {
  const version = await publishQuiz(lab);
  const page = await lab.browser.newPage();
  await page.goto(lab.hostOrigin);
  await page.evaluate(`{
    const element = document.createElement('div');
    element.dataset.lecternEmbed = '${version.lessonId}';
    element.dataset.token = '${buildLearnerToken(version)}';
    addEventListener('lectern:ready', ({ detail, target }) => { heard = [detail.title, target === element]; });
    document.body.append(element, Object.assign(document.createElement('script'), { src: '${lab.api.url}/embed.js' }));
  }`);
  await page.waitForFunction('window.heard');
  expect(await page.evaluate('heard')).toEqual(['A lesson', true]);
});
