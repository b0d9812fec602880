import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import type { Behavior } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { Webhooks } from '../webhooks/webhooks-client.ts';
import { faultNames, startFragileInstallation } from './event-faults.ts';
import type { FragileInstallation } from './event-faults.ts';
import { printFigure, seededRandom } from './measure.ts';
import { hasPython } from './python-environment.ts';
import { startRalph } from './ralph.ts';

/* No event is lost, whatever is killed: webhooks and statements from 2,000 learners. */

/** LECTERN_EVENTS_SEED changes the faults. */
const seed = Number(process.env.LECTERN_EVENTS_SEED ?? 20261123);
/** Each has four events, and nine statements. */
const learners = Number(process.env.LECTERN_EVENTS_LEARNERS ?? 2000);
const clients = 16;
const outageMs = 20_000;
const drainTimeoutMs = 15 * 60_000;

const receiver = useReceiver();

const [first, middle, last] = [
  { currentSectionIndex: 0, currentStepIndex: 0 },
  { currentSectionIndex: 0, currentStepIndex: 1 },
  { currentSectionIndex: 1, currentStepIndex: 0 },
];
/** What each learner does; the second answer to q3 is right. */
const writes = [
  { ...first, progressData: {} },
  { ...middle, items: [{ widgetId: 'q2', answer: ['b'] }] },
  { ...last, items: [{ widgetId: 'q3', answer: ['a'] }] },
  { ...last, items: [{ widgetId: 'q3', answer: ['b'] }] },
  { ...last, completed: true },
];
/** What follows: the type or verb, and the revision. */
const expectedEvents = [
  ...['progress.started 1', 'progress.scored 2', 'progress.scored 4', 'progress.completed 5'],
];
const expectedStatements = [
  ...['initialized 1', 'answered 2', 'progressed 2', 'answered 3', 'progressed 3', 'answered 4'],
  ...['completed 5', 'passed 5', 'terminated 5'],
];

/** Sends a write until its response arrives, as the player does. */
async function persist(
  { address }: FragileInstallation,
  { lessonId, _id: versionId }: LessonVersion,
  token: string,
  write: object,
): Promise<void> {
  const body = JSON.stringify({ versionId, writeId: randomUUID(), ...write });
  for (;;) {
    const url = `${address()}/api/public/lessons/${lessonId}/session?token=${token}`;
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const answer = await ask(url, { ...options, signal: AbortSignal.timeout(10_000) }).catch(() => null);
    if (answer?.status === 200) return;
    if (answer !== null && answer.status < 500) throw new Error(`${answer.status} ${answer.body.toString()}`);
    await delay(200);
  }
}

/** Fails once for some ids: after it has received them. */
function unreliable(): Behavior {
  const seen = new Set<string>();
  return (request, response) => {
    const id = String(request.headers['webhook-id']);
    const digit = Number.parseInt(id.slice(-3), 16);
    if (seen.has(id) || digit >= 80) return void response.writeHead(204).end();
    seen.add(id);
    if (digit < 8) request.socket.destroy();
    else response.writeHead(400).end('once');
  };
}

test.skipIf(!(await hasPython()))(
  'events arrive although API, workers, Redis, MongoDB and the LRS are killed: statements once, events at least once',
  async () => {
    const random = seededRandom(seed);
    const ralph = await startRalph();
    onTestFinished(() => ralph.remove());
    const { host } = new URL(ralph.destination.endpoint);
    const installation = await startFragileInstallation(random, {
      PUBLIC_URL: 'http://localhost',
      LECTERN_ALLOWED_PRIVATE_HOSTS: `${host},127.0.0.1:${receiver.port}`,
    });
    const { harness, faults } = installation;
    const { db } = harness;
    const { organization, headers } = await buildOrganization(harness);
    const version = await publishLesson(harness, organization);
    receiver.script('/hook', unreliable());
    const url = installation.address();
    const types = ['progress.started', 'progress.scored', 'progress.completed'];
    await new Webhooks({ url, headers }).create(receiver.url(), types);
    const created = await ask(`${url}/api/xapi-destinations`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ralph.destination, passingScore: 0.5 }),
    });
    expect(created.status).toBe(201);
    const { id: targetId } = jsonOf(created) as { id: string };

    // Ralph rejects two: one has no actor, and it has another one with the id of the other.
    const invalid = { id: randomUUID(), verb: { id: 'http://adlnet.gov/expapi/verbs/completed' } };
    const conflicting = { ...invalid, id: randomUUID(), actor: { mbox: 'mailto:other@example.org' } };
    const { username, password, endpoint } = ralph.destination;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const posted = await ask(`${endpoint}statements`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify([{ ...conflicting, object: { id: 'http://localhost/other' } }]),
    });
    expect(posted.status).toBe(200);
    const planted = { kind: 'xapi' as const, organizationId: organization._id, targetId, type: 'completed' };
    const about = { lessonId: version.lessonId, platformId: null, eventAt: new Date() };
    const rejected = [
      { learnerId: 'invalid', body: JSON.stringify(invalid) },
      {
        learnerId: 'conflicting',
        body: JSON.stringify({ ...conflicting, object: { id: 'http://localhost/one' } }),
      },
    ];
    await insertDeliveries(
      db,
      rejected.map((row) => ({ _id: `xst_${randomUUID()}`, ...planted, ...about, ...row })),
    );

    const started = performance.now();
    const names = Array.from({ length: learners }, (_, number) => `learner-${number}`);
    const left = [...names];
    const learn = async () => {
      for (let learnerId = left.shift(); learnerId !== undefined; learnerId = left.shift()) {
        const token = buildLearnerToken(version, { learnerId, seconds: 3600 });
        for (const write of writes) await persist(installation, version, token, write);
      }
    };
    const stopping = new AbortController();
    const counts = { api: 0, worker: 0, redis: 0, mongodb: 0 };
    const breakThings = async () => {
      for (let number = 0; !stopping.signal.aborted; number += 1) {
        await delay(1000 + random.below(2000), undefined, { signal: stopping.signal }).catch(() => undefined);
        const name = faultNames[number % faultNames.length] ?? 'api';
        await faults[name]();
        counts[name] += 1;
      }
    };
    const takeLrsAway = async () => {
      await delay(outageMs / 2);
      await ralph.stop();
      await delay(outageMs);
      await ralph.start();
      await delay(outageMs / 2);
      ralph.freeze();
      await delay(outageMs);
      ralph.thaw();
    };
    const breaking = breakThings();
    breaking.catch(() => undefined);
    await Promise.all([takeLrsAway(), ...Array.from({ length: clients }, learn)]);
    stopping.abort();
    await breaking;
    const written = performance.now();

    const isDrained = async () => {
      const waiting = await db.eventDeliveries.countDocuments({ state: 'waiting' });
      return waiting === 0;
    };
    await waitFor('all deliveries', isDrained, drainTimeoutMs);

    const statements = await ralph.statements();
    const failed = await db.eventDeliveries.find({ state: 'failed' }).sort({ learnerId: 1 }).lean();
    printFigure('events', {
      ...{ seed, learners, ...counts, writeSeconds: (written - started) / 1000 },
      drainSeconds: (performance.now() - written) / 1000,
      ...{ statements: statements.length, webhookRequests: receiver.received.length },
    });
    const ofLearners = statements.filter(({ actor }) => 'account' in actor);
    const named = ofLearners.map(
      ({ actor, verb, context }) =>
        `${actor.account.name} ${verb.display.en} ${Object.values(context.extensions).join()}`,
    );
    const wanted = names.flatMap((name) => expectedStatements.map((one) => `${name} ${one}`));
    expect(named.toSorted()).toEqual(wanted.toSorted());
    expect(new Set(statements.map(({ id }) => id)).size).toBe(statements.length);
    expect(failed.map(({ learnerId, failure }) => [learnerId, failure?.status])).toEqual([
      ['conflicting', 409],
      ['invalid', 422],
    ]);
    expect(failed.map(({ failure }) => failure?.body).join('\n')).toMatch(/already exist[^]*Field required/);

    const events = receiver.received.map(({ body: { type, data }, headers: { 'webhook-id': id } }) => ({
      ...{ id, data },
      name: `${String(data.learnerId)} ${type} ${String(data.revision)}`,
    }));
    const distinct = new Map(events.map(({ id, name }) => [id, name]));
    const wantedEvents = names.flatMap((name) => expectedEvents.map((one) => `${name} ${one}`));
    expect([...distinct.values()].toSorted()).toEqual(wantedEvents.toSorted());
    const rebuilt = new Map<string, Record<string, unknown>>();
    for (const { data } of events) {
      const known = rebuilt.get(String(data.learnerId));
      if (Number(data.revision) >= Number(known?.revision ?? 0)) rebuilt.set(String(data.learnerId), data);
    }
    const records = await db.embedProgress.find({}).lean();
    expect(records).toHaveLength(learners);
    for (const { learnerId, revision, status, score, maxScore, completedAt } of records) {
      const state = { revision, status, score, maxScore, completedAt: completedAt?.toISOString() };
      expect(rebuilt.get(learnerId)).toMatchObject(state);
    }
  },
);
