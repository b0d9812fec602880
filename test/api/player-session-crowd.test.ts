import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { mostRequests } from '../../api/player/learner-lines.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf } from './answers.ts';
import { Player, publishLesson, section, step } from './player-lessons.ts';

const kB = 1024;
const widgets = Array.from({ length: 12 }, (_, index) => `Essay-${index}`);

let harness: Harness;
let address: string;
let headers: { authorization: string };
let version: LessonVersion;

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  const built = await buildOrganization(harness);
  ({ headers } = built);
  const essays = widgets.map((id) => ({ type: 'Essay', props: { id } }));
  version = await publishLesson(harness, built.organization, {
    sections: [section('one', step('s1', ...essays))],
  });
});
afterAll(() => harness.close());

const newPlayer = (learnerId: string = randomUUID()) =>
  new Player(address, version, buildLearnerToken(version, { learnerId }));

/** Begins a write that never ends; it has its place in the learner's line all the same. */
function beginWrite(token: string): () => void {
  const url = `${address}/api/public/lessons/${version.lessonId}/session?token=${token}`;
  const sent = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': '100' },
  });
  sent.on('error', () => undefined);
  sent.write('{');
  return () => sent.destroy();
}

/** Much longer than anything takes, so that a busy machine fails no test. */
const deadlineMs = 60_000;

test(
  'a learner with too many requests at once gets 429 and the time to come again; others are served',
  async () => {
    const token = buildLearnerToken(version, { learnerId: randomUUID() });
    const ends = Array.from({ length: mostRequests }, () => beginWrite(token));
    onTestFinished(() => ends.forEach((end) => end()));
    const player = new Player(address, version, token);
    const refused = await waitFor(
      'a refusal',
      async () => {
        const answer = await player.tell();
        return answer.status === 429 ? answer : undefined;
      },
      deadlineMs,
    );
    const error = 'Too many concurrent requests from this learner; try again in 2 seconds';
    expect(jsonOf(refused)).toEqual({ error });
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    await newPlayer().write();

    for (const end of ends) end();
    await waitFor('room', async () => (await player.ask()).status === 200, deadlineMs);
  },
  2 * deadlineMs,
);

test('a revision that is far ahead is a conflict, with the record', async () => {
  const player = newPlayer();
  await player.write();
  const refused = await player.tell({ revision: 1_000_000 });
  expect(refused.status).toBe(409);
  expect(jsonOf(refused)).toMatchObject({ current: { revision: 1 } });
});

test('a large record is written, told and read as it is, up to 2 MiB in all', async () => {
  const learnerId = randomUUID();
  const player = newPlayer(learnerId);
  const answer = 'ü'.repeat(100 * kB);
  let revision = 0;
  let refused;
  for (const widgetId of widgets) {
    const answered = await player.tell({ revision, items: [{ widgetId, answer }] });
    if (answered.status !== 200) {
      refused = answered;
      break;
    }
    revision += 1;
  }
  expect(revision).toBe(10);
  expect(refused?.status).toBe(413);
  const read = await player.read();
  expect(read).toMatchObject({
    revision,
    items: widgets.slice(0, 10).map((widgetId) => ({ widgetId, answer })),
  });
  const stale = jsonOf(await player.tell({ revision: 0 })) as { current: unknown };
  expect(stale.current).toEqual(read);
  const url = `${address}/api/public/lessons/${version.lessonId}/progress/${learnerId}`;
  expect(jsonOf(await ask(url, { headers }))).toMatchObject({ items: read.items });
});
