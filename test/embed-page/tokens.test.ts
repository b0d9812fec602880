import { expect, test } from 'vitest';
import { buildLearnerToken } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { answersIn, choose, press, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';
import { publishQuiz } from './lessons.ts';

const lab = useEmbedLab();

/** As a server does that forgets who this is: what expiry looks like to a page, without waiting for it. */
async function refuse({ page }: HostPage, token: string): Promise<void> {
  await page.route(`**/session?token=${token}`, (route) =>
    route.fulfill({ status: 401, json: { error: 'Token verification failed: jwt expired' } }),
  );
}

test('the host page is asked for a token before the old one ends, and the lesson goes on with it', async () => {
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

test('a token that ends without another keeps the answers, and says so; a later token saves them', async () => {
  const version = await publishQuiz(lab);
  const token = buildLearnerToken(version);
  const learner = await lab.open(version, { token });
  await seeStep(learner, 's1');
  await waitFor('the first look', () => lab.progressOf(version));
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

test('answers that no token could save are saved when the lesson is opened with another one', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  const token = buildLearnerToken(version);
  const learner = await lab.open(version, { context, token });
  await seeStep(learner, 's1');
  await waitFor('the first look', () => lab.progressOf(version));
  await refuse(learner, token);
  await press(learner, 'Next');
  await choose(learner, 'b');
  await learner.outer.getByRole('status').getByText('Your session has ended.').waitFor();
  await learner.page.close();

  const again = await lab.open(version, {
    context,
    token: buildLearnerToken(version, { userAttributes: '{"a":1}' }),
  });
  await seeStep(again, 's2');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
});

test('a token of another learner, of another lesson, or no token at all is refused', async () => {
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

test('a frame without a token waits for one, and a reload of it needs no other', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version, {
    token: '',
    more: `getToken: async () => '${buildLearnerToken(version)}'`,
  });
  await seeStep(learner, 's1');
  expect(await learner.event('token.expiring')).toEqual({ type: 'token.expiring', expiresAt: null });
  await press(learner, 'Next');
  await waitFor('the step', async () => (await lab.progressOf(version))?.currentStepIndex === 1);
  const outer = learner.page.frames().find((frame) => frame.url().includes('/embed/'));
  await outer?.evaluate('location.reload()').catch(() => undefined);
  await seeStep(learner, 's2');
});

test('an ended token is replaced once by the host page, which is not asked again when that one is no good', async () => {
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

async function codesIn({ events }: HostPage): Promise<unknown[]> {
  return (await events()).filter(({ type }) => type === 'error').map(({ code }) => code);
}

test('the address of media and widgets is made anew before it ends', async () => {
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
