import { expect, test } from 'vitest';
import { buildLearnerToken } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answersIn, choose, hostPage, press, seeKept, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';
import { publishQuiz } from './lessons.ts';

const lab = useEmbedLab();

/** Simulates expiry without waiting: the server rejects the token. */
async function refuse({ page }: HostPage, token: string): Promise<void> {
  await page.route(`**/session?token=${token}`, (route) =>
    route.fulfill({ status: 401, json: { error: 'Token verification failed: jwt expired' } }),
  );
}

test('the host page is asked for a new token before expiry, and the lesson continues with it', async () => {
  const version = await publishQuiz(lab);
  const token = buildLearnerToken(version, { seconds: 20 });
  const fresh = buildLearnerToken(version);
  const learner = await lab.open(version, { token, more: `getToken: () => '${fresh}'` });
  expect(await learner.event('token.expiring')).toMatchObject({ expiresAt: expect.any(String) as string });
  await refuse(learner, token);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
});

test('an expired token without a successor keeps the answers and shows a notice; a later token saves them', async () => {
  const version = await publishQuiz(lab);
  const token = buildLearnerToken(version);
  const learner = await lab.open(version, { token });
  await seeStep(learner, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await refuse(learner, token);
  await press(learner, 'Next');
  await choose(learner, 'b');
  const status = learner.outer.getByRole('status');
  await status.getByText('Your session has ended.').waitFor();
  await press(learner, 'Next');
  expect(answersIn(await lab.progressOf(version))).toEqual({});

  await learner.page.evaluate(`embed.setToken('${buildLearnerToken(version)}')`);
  await status.getByText('Everything is saved.').waitFor();
  expect(await lab.progressOf(version)).toMatchObject({ score: 2, currentSectionIndex: 1 });
});

test('the host page is asked again when a token is rejected, because it may have been offline before', async () => {
  const version = await publishQuiz(lab);
  const [token, fresh] = [buildLearnerToken(version), buildLearnerToken(version, { seconds: 900 })];
  const learner = await lab.open(version, { token, more: `getToken: async () => '${fresh}'` });
  await seeStep(learner, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await refuse(learner, token);
  await press(learner, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
});

test('a token that arrives while a write is being rejected saves that write', async () => {
  const version = await publishQuiz(lab);
  const [token, fresh] = [buildLearnerToken(version), buildLearnerToken(version, { seconds: 900 })];
  const learner = await lab.open(version, { token });
  const { page } = learner;
  await seeStep(learner, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await page.route(`**/session?token=${token}`, async (route) => {
    const taken = page.waitForResponse((response) => response.url().endsWith(`/session?token=${fresh}`));
    await page.evaluate(`embed.setToken('${fresh}')`);
    await (await taken).finished();
    await route.fulfill({ status: 401, json: { error: 'Token verification failed: Token expired' } });
  });
  await press(learner, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
});

test('answers that no token could save are saved when the lesson opens with another one', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const token = buildLearnerToken(version);
  const learner = await lab.open(version, { context, token });
  await seeStep(learner, 's1');
  await waitFor('the first view', () => lab.progressOf(version));
  await refuse(learner, token);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await learner.outer.getByRole('status').getByText('Your session has ended.').waitFor();
  await seeKept(learner, 'q2');
  await learner.page.close();

  const again = await lab.open(version, {
    context,
    token: buildLearnerToken(version, { userAttributes: '{"a":1}' }),
  });
  await seeStep(again, 's2');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
});

test('a token of another learner or lesson, or an invalid token, is rejected', async () => {
  const [version, other] = [await publishQuiz(lab), await publishQuiz(lab)];
  const learner = await lab.open(version);
  await seeStep(learner, 's1');
  const refused: unknown[] = [];
  for (const token of [
    buildLearnerToken(version, { learnerId: 'somebody else' }),
    buildLearnerToken(other),
    'not.a.token',
  ]) {
    const before = (await learner.events()).length;
    await learner.page.evaluate(`embed.setToken('${token}')`);
    await waitFor('the refusal', async () => {
      const errors = (await learner.events()).slice(before).filter(({ type }) => type === 'error');
      refused.push(...errors.map(({ code }) => code));
      return errors.length > 0;
    });
  }
  expect(refused).toEqual(['token_mismatch', 'wrong_lesson', 'token_invalid']);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
  expect(await lab.progressOf(version, 'somebody else')).toBeNull();
});

test('a frame without a token waits for one, and a reload reuses it', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version, {
    token: '',
    more: `getToken: async () => '${buildLearnerToken(version)}'`,
  });
  await seeStep(learner, 's1');
  expect(await learner.event('token.expiring')).toEqual({ type: 'token.expiring', expiresAt: null });
  await press(learner, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
  await reloadFrame(learner);
  await seeStep(learner, 's2');
});

test('a host page that fails to provide a token is asked again, and the learner sees a notice', async () => {
  const version = await publishQuiz(lab);
  const token = buildLearnerToken(version);
  // A server that is down, then a proxy's page instead of a token.
  const failing = `(window.asked ? '<h1>Bad gateway</h1>' : Promise.reject(new Error(asked = '503')))`;
  const more = `getToken: () => window.isUp ? '${token}' : ${failing}`;
  const learner = await lab.open(version, { token: '', more });
  const status = learner.outer.getByRole('status');
  await status.getByText('We can’t open the lesson right now. We’ll keep trying.').waitFor();
  expect(await learner.event('error')).toMatchObject({ code: 'token_not_given' });
  await learner.page.evaluate('isUp = true');
  await seeStep(learner, 's1');
});

test('a step requested before there is a token is shown', async () => {
  const version = await publishQuiz(lab);
  const give = `getToken: () => new Promise((resolve) => { give = () => resolve('${buildLearnerToken(version)}'); })`;
  const learner = await lab.open(version, { token: '', more: give });
  await learner.page.evaluate(`embed.goTo('s3')`);
  await learner.event('token.expiring');
  await learner.page.evaluate('give()');
  await seeStep(learner, 's3');
  await press(learner, 'Back');
  await reloadFrame(learner);
  await seeStep(learner, 's2');
});

test("where the host page provides the token, the tab does not resume the previous learner's session", async () => {
  const version = await publishQuiz(lab);
  const { page, ...before } = await lab.open(version);
  await press(before, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
  await page.goto(`${lab.hostOrigin}/`);
  const token = buildLearnerToken(version, { learnerId: 'learner-2' });
  const next = hostPage(page);
  await next.mount(`lessonId: '${version.lessonId}', getToken: async () => '${token}'`);
  await seeStep(next, 's1');
  await waitFor('the first view', () => lab.progressOf(version, 'learner-2'));
});

test('a page that failed because of the server needs no other token after a reload', async () => {
  const version = await publishQuiz(lab);
  const contents = await lab.harness.db.lessonContents.find({ versionId: version._id }).lean();
  await lab.harness.db.lessonContents.deleteMany({ versionId: version._id });
  const learner = await lab.open(version);
  expect(await learner.event('error')).toMatchObject({ code: 'server_error' });
  await lab.harness.db.lessonContents.insertMany(contents);
  await reloadFrame(learner);
  await seeStep(learner, 's1');
});

test('the host page replaces an expired token once, and is not asked again when the new one is invalid', async () => {
  const version = await publishQuiz(lab);
  const ended = buildLearnerToken(version, { seconds: -60 });
  const more = (token: string) =>
    `getToken: () => { window.asked = (window.asked ?? 0) + 1; return '${token}'; }`;
  const learner = await lab.open(version, { token: ended, more: more(buildLearnerToken(version)) });
  await seeStep(learner, 's1');
  expect(await learner.event('error')).toMatchObject({ code: 'token_expired' });

  const failing = await lab.open(version, { token: ended, more: more(ended) });
  await waitFor('the second failure', async () => (await codesIn(failing)).length === 2);
  expect(await codesIn(failing)).toEqual(['token_expired', 'token_expired']);
  expect(await failing.page.evaluate('asked')).toBe(1);
});

test('the host page gets an error for a URL without a valid lesson', async () => {
  const learner = await lab.open({ ...(await publishQuiz(lab)), lessonId: 'x' }, { token: 'y' });
  expect(await learner.event('error')).toMatchObject({ code: 'bad_address' });
});

async function reloadFrame({ page }: HostPage): Promise<void> {
  const outer = page.frames().find((frame) => frame.url().includes('/embed/'));
  await outer?.evaluate('location.reload()').catch(() => undefined);
}

async function codesIn({ events }: HostPage): Promise<unknown[]> {
  return (await events()).filter(({ type }) => type === 'error').map(({ code }) => code);
}

test('URLs of media and widgets are renewed before they expire', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  await context.clock.install();
  const learner = await lab.open(version, {
    context,
    token: buildLearnerToken(version, { seconds: 86_400 }),
  });
  await seeStep(learner, 's1');
  const renewal = learner.page.waitForResponse((response) => response.url().includes('/content?'));
  await context.clock.fastForward('06:00:00');
  const response = await renewal;
  expect(response.status()).toBe(200);
  expect(await response.json()).toMatchObject({ versionId: version._id });
  await press(learner, 'Next');
  await seeStep(learner, 's2');
});
