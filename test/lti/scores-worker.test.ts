import { onTestFinished, expect, test, vi } from 'vitest';
import { Registry } from 'prom-client';
import type { Link } from '../../simulator/model.ts';
import { startRedis } from '../../shared/embedded/redis.ts';
import { createDeliveryQueue } from '../../shared/deliveries/queue.ts';
import { scoreQueueName } from '../../shared/lti/scores/publish-to-outbox.ts';
import type { LtiScore } from '../../shared/models/lti-score.ts';
import { registerScoreMetrics } from '../../shared/operations/score-metrics.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { observeScoreAttempts } from '../../worker/deliveries/scores.ts';
import { Player } from '../player/player-lessons.ts';
import { waitFor } from '../support/wait-for.ts';
import { startLaunchLab, tokenOf } from './support/launch-lab.ts';
import type { LaunchLab } from './support/launch-lab.ts';

/* From a learner's write to the gradebook: API, MongoDB, Redis, worker and platform. */

vi.setConfig({ testTimeout: 60_000 });

const lineItem = { label: 'A lesson', scoreMaximum: 10 };
const last = { currentSectionIndex: 1, currentStepIndex: 0 };
const right = { items: [{ widgetId: 'q3', answer: ['b'] }], completed: true };

async function useLab(settings: Record<string, string> = {}) {
  const lab = await startLaunchLab({}, settings);
  onTestFinished(() => lab.close());
  const allowed = { LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(lab.simulator.issuer).host };
  return { lab, startWorker: (own = {}) => lab.harness.startWorker({ ...allowed, ...own }) };
}

/** A learner in front of the lesson, by a link. */
async function openLesson(lab: LaunchLab, link: Link): Promise<Player> {
  const token = tokenOf(await lab.launch({ link }));
  return new Player(lab.address, lab.version, token ?? '');
}

/** The platform's scores for the only line item and the only learner. */
function taken(lab: LaunchLab, link: Link) {
  return lab.simulator.lineItemsOf(link).flatMap((item) => lab.simulator.scoresOf(item));
}

const onlyRow = async ({ harness }: LaunchLab): Promise<LtiScore | null> =>
  harness.db.ltiScores.findOne().lean<LtiScore>();

test('scores reach the gradebook within moments, and rapid writes send only some, including the last one', async () => {
  const { lab, startWorker } = await useLab();
  await startWorker();
  const link = lab.addLink({ lineItem });
  const player = await openLesson(lab, link);
  await player.write();
  for (let revision = 1; revision < 6; revision += 1) await player.write({ revision, ...last });
  await player.write({ revision: 6, ...last, completed: true });
  await player.write({ revision: 7, ...last, ...right });
  await waitFor('the last score', () => taken(lab, link).at(-1)?.scoreGiven === 33.3333);
  const scores = taken(lab, link);
  expect(scores.at(-1)).toMatchObject({ activityProgress: 'Completed', scoreMaximum: 100 });
  expect(scores.length).toBeLessThanOrEqual(2);

  const redis = await connectRedis(lab.harness.servers.redisUrl);
  const queue = createDeliveryQueue(scoreQueueName, redis, lab.harness.config);
  await waitFor('the end of the job', async () =>
    (await queue.getCompleted()).some(({ returnvalue }) => returnvalue === 'sent'),
  );
  await queue.close();
  redis.disconnect();
});

test("a learner who finished the lesson by one link gets the score in another link's gradebook after its launch", async () => {
  const { lab, startWorker } = await useLab();
  await startWorker();
  const player = await openLesson(lab, lab.addLink());
  await player.write({ ...last, ...right });
  const link = lab.addLink({ lineItem });
  await openLesson(lab, link);
  await waitFor('the score', () => taken(lab, link).length > 0);
  expect(taken(lab, link)).toMatchObject([{ scoreGiven: 33.3333 }]);
});

test('without Redis a write still succeeds, and its score is sent once a worker runs', async () => {
  let redis = await startRedis();
  onTestFinished(() => redis.stop());
  const { lab, startWorker } = await useLab({ REDIS_URL: redis.url });
  const link = lab.addLink({ lineItem });
  const player = await openLesson(lab, link);
  redis.kill();
  await redis.exited;
  await player.write({ ...last, ...right });
  await waitFor('the outbox', async () => (await onlyRow(lab))?.state === 'waiting');
  redis = await startRedis({ port: redis.port });
  await startWorker();
  await waitFor('the score', () => taken(lab, link).length > 0);
  expect(taken(lab, link)).toMatchObject([{ scoreGiven: 33.3333 }]);
});

test('a worker that shuts down while a platform does not respond leaves the score to the next worker', async () => {
  const { lab, startWorker } = await useLab({ SHUTDOWN_SECONDS: '2' });
  const link = lab.addLink({ lineItem });
  const player = await openLesson(lab, link);
  lab.simulator.fail('scores', { hang: true });
  const endWorker = await startWorker();
  await player.write({ ...last, ...right });
  const { pathname } = new URL(lab.simulator.urls.token);
  await waitFor('the token', () => lab.simulator.requests.some(({ path }) => path === pathname));
  expect(await onlyRow(lab)).toMatchObject({ state: 'waiting', leaseId: expect.any(String) });
  await endWorker();
  expect(await onlyRow(lab)).toMatchObject({ state: 'waiting', leaseId: null, tries: 0 });
  await startWorker();
  await waitFor('the score', () => taken(lab, link).length > 0);
});

test('metrics report the number and age of waiting and failed scores, and the outcomes of attempts', async () => {
  const { lab, startWorker } = await useLab({ WORKER_PORT: '0' });
  const registry = new Registry();
  registerScoreMetrics(registry, lab.harness.db);
  observeScoreAttempts(registry)('unavailable', 0.2);
  const link = lab.addLink({ lineItem });
  await (await openLesson(lab, link)).write({ ...last, ...right });
  await waitFor('the outbox', async () => (await onlyRow(lab))?.state === 'waiting');
  await lab.harness.db.ltiScores.updateOne({}, { $set: { nextTryAt: new Date(Date.now() - 90_000) } });
  const waiting = await registry.metrics();
  expect(waiting).toContain('lectern_lti_scores{state="waiting"} 1');
  expect(waiting).toContain('lectern_lti_score_tries_seconds_count{outcome="unavailable"} 1');
  expect(/^lectern_lti_scores_oldest_due_seconds (\d+)/m.exec(waiting)?.[1]).toMatch(/^9\d$/);
  lab.simulator.fail('scores', { status: 400 });
  await startWorker();
  await waitFor('the refusal', async () => (await onlyRow(lab))?.state === 'failed');
  const failed = await registry.metrics();
  expect(failed).toContain('lectern_lti_scores{state="failed"} 1');
  expect(failed).toContain('lectern_lti_scores_oldest_due_seconds 0');
});
