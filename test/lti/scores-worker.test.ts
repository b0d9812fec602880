import { onTestFinished, expect, test } from 'vitest';
import { Registry } from 'prom-client';
import type { Link } from '../../simulator/model.ts';
import type { LtiScore } from '../../shared/models/lti-score.ts';
import { registerScoreMetrics } from '../../shared/operations/score-metrics.ts';
import { observeDeliveries } from '../../worker/deliveries/delivery-sender.ts';
import { Player } from '../player/player-lessons.ts';
import { startOwnRedis } from '../support/servers.ts';
import { worksFully } from '../support/answers.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { startLaunchLab, tokenOf } from './support/launch-lab.ts';

/* From a learner's write to the gradebook: API, MongoDB, Redis, worker and platform. */

const lineItem = { label: 'A lesson', scoreMaximum: 10 };
const last = { currentSectionIndex: 1, currentStepIndex: 0 };
const right = { items: [{ widgetId: 'q3', answer: ['b'] }], completed: true };

const redisOf = useStarted(
  async () => ({ current: await startOwnRedis() }),
  ({ current }) => current.stop(),
);
const lab = useStarted(
  () => startLaunchLab({}, { REDIS_URL: redisOf.current.url, SHUTDOWN_SECONDS: '2', WORKER_PORT: '0' }),
  (started) => started.close(),
);

/** Starts a worker until the test ends, or until the returned function is called. */
async function startWorker(): Promise<() => Promise<void>> {
  const allowed = { LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(lab.simulator.issuer).host };
  const end = await lab.harness.startWorker(allowed);
  let ending: Promise<void> | undefined;
  const endOnce = () => (ending ??= Promise.resolve(end()));
  onTestFinished(endOnce);
  return endOnce;
}

/** Launches a link as a new learner. */
async function openLesson(link: Link, user = lab.simulator.addUser()): Promise<Player> {
  const launched = await lab.launch({ link, user });
  const token = tokenOf(launched);
  if (token === undefined) throw new Error(`The launch ended with ${launched.status}: ${launched.text}`);
  return new Player(lab.address, lab.version, token);
}

/** Returns the platform's scores for the line item of a link. */
function taken(link: Link) {
  return lab.simulator.lineItemsOf(link).flatMap((item) => lab.simulator.scoresOf(item));
}

async function rowOf(link: Link): Promise<LtiScore | null> {
  const { db } = lab.harness;
  const stored = await db.ltiResourceLinks.findOne({ resourceLinkId: link.id }, { _id: 1 }).lean().orFail();
  return db.ltiScores.findOne({ linkId: stored._id }).lean<LtiScore>();
}

test('a score reaches the gradebook, and of several writes that wait only the last one', async () => {
  const link = lab.addLink({ lineItem });
  const player = await openLesson(link);
  await player.write();
  for (let revision = 1; revision < 6; revision += 1) await player.write({ ...last });
  await player.write({ ...last, completed: true });
  await player.write({ ...last, ...right });
  await startWorker();
  await waitFor('the score', () => taken(link).length > 0);
  expect(taken(link)).toMatchObject([
    { activityProgress: 'Completed', scoreGiven: 33.3333, scoreMaximum: 100 },
  ]);
});

test('without Redis a write still succeeds, and its score is sent once a worker runs', async () => {
  const link = lab.addLink({ lineItem });
  const player = await openLesson(link);
  redisOf.current.kill();
  await redisOf.current.exited;
  await player.write({ ...last, ...right });
  await waitFor('the outbox', async () => (await rowOf(link))?.state === 'waiting');
  redisOf.current = await startOwnRedis(redisOf.current.port);
  await startWorker();
  await waitFor('the score', () => taken(link).length > 0);
  expect(taken(link)).toMatchObject([{ scoreGiven: 33.3333 }]);
  await waitFor("the API's connection to Redis", () => worksFully(lab.address));
});

test('a worker that shuts down while a platform does not respond leaves the score to the next worker', async () => {
  const link = lab.addLink({ lineItem });
  const player = await openLesson(link);
  lab.simulator.fail('scores', { hang: true });
  const endWorker = await startWorker();
  await player.write({ ...last, ...right });
  const [item] = lab.simulator.lineItemsOf(link);
  const scores = item && `${new URL(lab.simulator.urlOf(item)).pathname}/scores`;
  await waitFor('the score', () => lab.simulator.requests.some(({ path }) => path === scores));
  expect(await rowOf(link)).toMatchObject({ state: 'waiting', leaseId: expect.any(String) });
  await endWorker();
  expect(await rowOf(link)).toMatchObject({ state: 'waiting', leaseId: null, tries: 0 });
  await startWorker();
  await waitFor('the score', () => taken(link).length > 0);
});

test('metrics report the number and age of waiting and failed scores, and the outcomes of attempts', async () => {
  const registry = new Registry();
  registerScoreMetrics(registry, lab.harness.db);
  observeDeliveries(registry)('grade')('unavailable', 0.2);
  const link = lab.addLink({ lineItem });
  await (await openLesson(link)).write({ ...last, ...right });
  await waitFor('the outbox', async () => (await rowOf(link))?.state === 'waiting');
  await lab.harness.db.ltiScores.updateOne(
    { state: 'waiting' },
    { $set: { nextTryAt: new Date(Date.now() - 90_000) } },
  );
  const waiting = await registry.metrics();
  expect(waiting).toContain('lectern_lti_scores{state="waiting"} 1');
  expect(waiting).toContain('lectern_delivery_tries_seconds_count{kind="grade",outcome="unavailable"} 1');
  expect(Number(/^lectern_lti_scores_oldest_due_seconds (\d+)/m.exec(waiting)?.[1])).toBeGreaterThanOrEqual(
    90,
  );
  lab.simulator.fail('scores', { status: 400 });
  await startWorker();
  await waitFor('the rejection', async () => (await rowOf(link))?.state === 'failed');
  const failed = await registry.metrics();
  expect(failed).toContain('lectern_lti_scores{state="failed"} 1');
  expect(failed).toContain('lectern_lti_scores_oldest_due_seconds 0');
});
