import { randomUUID } from 'node:crypto';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { spawnApi } from '../fleet/processes.ts';
import { heading, Player, publishLesson, section, step } from '../player/player-lessons.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Crowd, CrowdAnswers } from './crowd-process.ts';
import { printFigure } from './measure.ts';
import { peakMegabytes } from './measure.ts';

const connections = 100;
const learners = 100;
const probes = 100;
/** Limits: the growth of another organization's median through the crowd, and the API's memory. */
const allowedRatio = 3;
const allowedMegabytes = 300;

const kB = 1024;
const widgets = Array.from({ length: 40 }, (_, index) => `Essay-${index}`);
const sections = [
  section('one', step('s1', ...widgets.map((id) => ({ type: 'Essay', props: { id } })))),
  section('two', step('s2', heading())),
];

type CrowdRequest = Crowd['requests'][number];

interface Crowding {
  version: LessonVersion;
  authorization: string;
  /** Learners with records of the maximum size. */
  tokens: { learnerId: string; token: string }[];
}

/** Ways in which a learner, or an organization, can keep a process busy. */
const crowds: Record<string, (crowding: Crowding) => CrowdRequest[]> = {
  'one learner, writes that change nothing': ({ version, tokens }) =>
    tokens.slice(0, 1).map(({ token }) => write(version, token, { ageMs: -1 })),
  'one learner, writes that are merged': ({ version, tokens }) =>
    tokens.slice(0, 1).map(({ token }) => write(version, token, {})),
  'one learner, reading': ({ version, tokens }) =>
    tokens
      .slice(0, 1)
      .map(({ token }) => ({ method: 'GET', path: `${sessionPath(version)}?token=${token}` })),
  'a hundred learners, writes that are merged': ({ version, tokens }) =>
    tokens.map(({ token }) => write(version, token, {})),
  'a hundred learners, bodies of 250 kB': ({ version, tokens }) =>
    tokens.map(({ token }) => write(version, token, { progressData: { text: 'x'.repeat(250 * kB) } })),
  'a hundred learners, bodies of 250 kB without their last byte': ({ version, tokens }) =>
    tokens.map(({ token }) => ({
      ...write(version, token, { progressData: { text: 'x'.repeat(250 * kB) } }),
      isIncomplete: true,
    })),
  'a hundred learners, opening the page': ({ version, tokens }) =>
    tokens.map(({ token }) => ({ method: 'GET', path: `/embed/${version.lessonId}?token=${token}` })),
  'credentials, reading a hundred records': ({ version, tokens, authorization }) =>
    tokens.map(({ learnerId }) => ({
      method: 'GET',
      path: `/api/public/lessons/${version.lessonId}/progress/${learnerId}`,
      headers: { authorization },
    })),
};

const sessionPath = ({ lessonId }: LessonVersion) => `/api/public/lessons/${lessonId}/session`;

function write(version: LessonVersion, token: string, fields: object): CrowdRequest {
  const place = { versionId: version._id, currentSectionIndex: 0, currentStepIndex: 0 };
  const path = `${sessionPath(version)}?token=${token}`;
  return { method: 'POST', path, body: JSON.stringify({ ...place, ...fields }) };
}

/** Fills a learner's record up to its limit. */
async function fillRecord(player: Player): Promise<void> {
  for (const widgetId of widgets) {
    const answer = 'an answer, told at length '.repeat((60 * kB) / 26);
    const answered = await player.tell({ items: [{ widgetId, answer }] });
    if (answered.status !== 200) return;
  }
  throw new Error('A record has no size limit');
}

async function startCrowd(crowd: Crowd): Promise<() => Promise<CrowdAnswers>> {
  const child = fork(join(import.meta.dirname, 'crowd-process.ts'), { execArgv: ['--import', 'tsx'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  child.send(crowd);
  return async () => {
    const answered = once(child, 'message') as Promise<[CrowdAnswers]>;
    child.send('stop');
    const [answers] = await answered;
    child.kill('SIGKILL');
    await once(child, 'exit');
    return answers;
  };
}

/** Returns the median duration of sequential requests for a token, in milliseconds. */
async function medianOfProbes(probe: () => Promise<Response>): Promise<number> {
  const times: number[] = [];
  const giveUpAt = performance.now() + 20_000;
  while (times.length < probes && performance.now() < giveUpAt) {
    const started = performance.now();
    const response = await probe();
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN;
}

test('crowds of learners with large records do not slow another organization down', async () => {
  // Attackers have many IP addresses; here there is one, without limits.
  const harness = await startHarness({ RATE_LIMIT_PER_ADDRESS: '0', RATE_LIMIT_PER_KEY: '0' });
  onTestFinished(() => harness.close());
  const [crowding, other] = [await buildOrganization(harness), await buildOrganization(harness)];
  const version = await publishLesson(harness, crowding.organization, { sections });
  const otherVersion = await publishLesson(harness, other.organization);
  const seeding = await spawnApi(harness);
  const learnerId = randomUUID();
  await fillRecord(new Player(seeding.address, version, buildLearnerToken(version, { learnerId })));
  await seeding.kill();
  const record = await harness.db.embedProgress.findOne({ learnerId }).lean().orFail().exec();
  const learnerIds = Array.from({ length: learners }, () => randomUUID());
  await harness.db.embedProgress.insertMany(
    learnerIds.map((id) => ({ ...record, _id: randomUUID(), learnerId: id })),
  );
  const tokens = learnerIds.map((id) => ({
    learnerId: id,
    token: buildLearnerToken(version, { learnerId: id, seconds: 7200 }),
  }));

  const failures: string[] = [];
  for (const [name, requestsOf] of Object.entries(crowds)) {
    const api = await spawnApi(harness);
    const probe = () =>
      fetch(`${api.address}/api/public/sign-token`, {
        method: 'POST',
        headers: { ...other.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ lessonId: otherVersion.lessonId, learnerId: 'a-learner' }),
      });
    await medianOfProbes(probe);
    const idle = await medianOfProbes(probe);
    const requests = requestsOf({ version, authorization: crowding.headers.authorization, tokens });
    const stop = await startCrowd({ address: api.address, connections, requests });
    await delay(3000);
    const crowded = await medianOfProbes(probe);
    const answers = await stop();
    const peak = await peakMegabytes(api.pid);
    await api.kill();
    printFigure(name, {
      'idle ms': idle,
      'crowded ms': crowded,
      ratio: crowded / idle,
      'peak MB': peak,
      answers: JSON.stringify(answers),
    });
    if (crowded / idle >= allowedRatio || peak >= allowedMegabytes) failures.push(name);
  }
  expect(failures).toEqual([]);
});
