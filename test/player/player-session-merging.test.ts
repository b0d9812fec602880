import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import { deleteLesson, unpublish } from '../../shared/publishing/publishing.ts';
import { createErasure } from '../../shared/models/erasure.ts';
import { learnerSubject, pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { buildLaunchToken, buildLearnerToken } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { expectError } from '../support/answers.ts';
import { useApi, useStarted } from '../support/use.ts';
import { heading, Player, publishLesson, question, section, step, useLesson } from './player-lessons.ts';

const api = useApi();
const otherApi = useStarted(async () => ({ url: await api.startApi() }));
const version = useLesson(api);

/** Two devices of a new learner, at two API processes. */
function newDevices(kind: 'embed' | 'launch' = 'embed', played = version): [Player, Player] {
  const token =
    kind === 'embed'
      ? buildLearnerToken(played, { learnerId: randomUUID() })
      : buildLaunchToken(played, { ltiUserId: randomUUID() });
  return [new Player(api.url, played, token), new Player(otherApi.url, played, token)];
}

/** An answer to q2 in step s2 or q3 in step s3. */
const answer = (widgetId: string, given: unknown, ageMs = 0) => ({
  items: [{ stepId: widgetId.replace('q', 's'), widgetId, answer: given, ageMs }],
});

const recordOf = (learnerId: unknown) =>
  api.db.embedProgress
    .findOne({ learnerId: String(learnerId) })
    .lean<EmbedProgress>()
    .exec();

describe.each(['embed', 'launch'] as const)('concurrent writes with an %s token', (kind) => {
  test('of ten devices are all merged', async () => {
    const devices = newDevices(kind);
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        devices[index % 2 === 0 ? 0 : 1].write({ variableState: { [`v${index}`]: index }, ageMs: index }),
      ),
    );
    const { variableState } = await devices[0].read();
    expect(variableState).toEqual(
      Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`v${index}`, index])),
    );
  });

  test('ten with the same idempotency key (writeId) are stored once', async () => {
    const devices = newDevices(kind);
    const fields = { writeId: randomUUID(), currentStepIndex: 1, stepTimes: { s2: 1000 } };
    const sent = Array.from({ length: 10 }, (_, index) => devices[index % 2 === 0 ? 0 : 1].write(fields));
    const sessions = await Promise.all(sent);
    for (const session of sessions) expect(session).toStrictEqual(sessions[0]);
  });
});

test('a write that is sent again with its writeId changes nothing, even with other writes in between', async () => {
  const [one, two] = newDevices();
  const fields = { writeId: randomUUID(), progressData: { of: 'one' } };
  await one.write(fields);
  const { lastActivityAt, learnerId } = await two.write({ progressData: { of: 'two' } });
  const again = await one.write({ ...fields, writeId: fields.writeId.toUpperCase() });
  expect(again).toMatchObject({ progressData: { of: 'two' }, lastActivityAt });
  expect(await recordOf(learnerId)).toMatchObject({ revision: 2 });
});

test('a device that was offline loses none of its answers, and replaces no newer one', async () => {
  const [laptop, phone] = newDevices();
  await laptop.write({ currentSectionIndex: 1, progressData: { of: 'laptop' }, ...answer('q3', ['a']) });
  const late = { writeId: randomUUID(), currentStepIndex: 1, ageMs: 60_000, progressData: { of: 'phone' } };
  const merged = await phone.write({
    ...late,
    items: [...answer('q2', ['b'], 60_000).items, ...answer('q3', ['b'], 90_000).items],
  });
  expect(merged).toMatchObject({
    ...{ currentSectionIndex: 1, progressData: { of: 'laptop' }, score: 3 },
    // A right answer counts, whenever it was given.
    items: [
      { widgetId: 'q3', answer: ['b'] },
      { widgetId: 'q2', answer: ['b'] },
    ],
  });
  const { answeredAt } = (merged.items as { answeredAt: string }[])[1] ?? { answeredAt: '' };
  expect(Date.now() - Date.parse(answeredAt)).toBeGreaterThanOrEqual(60_000);
  // Integrators who read by activity do not miss it.
  expect(Date.now() - Date.parse(merged.lastActivityAt as string)).toBeLessThan(30_000);
});

test('a write that changes nothing stores nothing', async () => {
  const [laptop, phone] = newDevices();
  const { learnerId } = await laptop.write({ currentStepIndex: 1, ...answer('q2', ['a']) });
  await phone.write({ ageMs: 60_000, ...answer('q2', ['a'], 60_000) });
  expect(await recordOf(learnerId)).toMatchObject({ revision: 1 });
});

test("answers from before an erasure of the learner's data never come back, from any device", async () => {
  const learnerId = randomUUID();
  const token = buildLearnerToken(version, { learnerId });
  const [phone, laptop] = [new Player(api.url, version, token), new Player(otherApi.url, version, token)];
  const { organizationId } = version;
  const learner = learnerSubject(organizationId, learnerId, null);
  const pseudonym = pseudonymOf(testPepper, learner);
  const requestedAt = new Date();
  // The token was signed after it: the device had no network in between.
  await createErasure(api.db, {
    organizationId,
    pseudonym,
    mode: 'erase',
    learner,
    requestedAt,
    until: null,
  });
  const old = { currentStepIndex: 1, ageMs: 60_000, ...answer('q2', ['b'], 60_000) };
  expect(await phone.write(old)).toMatchObject({ status: 'not_started', items: null });
  expect(await recordOf(learnerId)).toBeNull();

  await phone.write({ currentStepIndex: 1 });
  expect(await laptop.write({ ...old, ageMs: 0 })).toMatchObject({ status: 'in_progress', items: null });
  // Of one request, only what is older is dropped.
  const fresh = { ...answer('q2', ['b'], 0), progressData: { seen: 'before' }, currentSectionIndex: 1 };
  expect(await laptop.write({ ageMs: 60_000, ...fresh })).toMatchObject({
    ...{ score: 2, currentSectionIndex: 0, progressData: null },
  });
});

describe('the attempt of a write', () => {
  const finish = { currentSectionIndex: 1, completed: true };

  test.each(['embed', 'launch'] as const)('late ones of an %s token change nothing', async (kind) => {
    const [phone, laptop] = newDevices(kind);
    const finished = await laptop.write({ attempt: 1, ...finish, ...answer('q2', ['b']) });
    expect(finished).toMatchObject({ attemptCompleted: true });
    const restarted = await laptop.write({ attempt: 2, restart: true });
    expect(restarted).toMatchObject({ attempt: 2, attemptCompleted: false, score: null, items: null });
    const wrong = await laptop.write({ attempt: 2, ...answer('q2', ['a']) });
    // The phone has answered everything and finished while it was offline.
    expect(await phone.write({ attempt: 1, ...finish, ...answer('q3', ['b']) })).toStrictEqual(wrong);
    expect(await phone.read()).toStrictEqual(wrong);
  });

  test('is the stored one by default, or the next one with a restart', async () => {
    const [one] = newDevices();
    expect(await one.write()).toMatchObject({ attempt: 1 });
    const writeId = randomUUID();
    expect(await one.write({ restart: true, writeId })).toMatchObject({ attempt: 2 });
    expect(await one.write({ restart: true, writeId })).toMatchObject({ attempt: 2 });
    expect(await one.write()).toMatchObject({ attempt: 2 });
    expect(await one.write({ attempt: 1000 })).toMatchObject({ attempt: 1000 });
    expectError(await one.tell({ restart: true }), 422, 'restart is accepted 999 times');
  });
});

describe('the version of a write', () => {
  const mismatch = 'versionId must be a version of the lesson that was published';
  const denied = 'Lesson not found or access denied';
  const published = (content: Parameters<typeof publishLesson>[2] = {}) =>
    publishLesson(api, api.organization, content);

  test('must be the one that the token pins', async () => {
    const one = await published();
    const two = await published({ lessonId: one.lessonId });
    const token = buildLearnerToken(one, { versionId: one._id });
    const player = new Player(api.url, one, token);
    expect(await player.write()).toMatchObject({ versionId: one._id });
    const refused = await player.tell({ versionId: two._id });
    expectError(refused, 422, 'versionId must be the version that the token names');
    await unpublish(api.db, one.lessonId, one._id);
    expectError(await player.ask(), 404, denied);
    // A page that already plays it saves its answers there.
    expect(await player.write(answer('q2', ['b']))).toMatchObject({ score: 2 });
  });

  test('may be any version of the lesson that was ever published, if none is pinned', async () => {
    const one = await published();
    const [player] = newDevices('embed', one);
    const two = await published({ lessonId: one.lessonId });
    expect(await player.write()).toMatchObject({ versionId: one._id });
    expect(await player.write({ versionId: two._id.toUpperCase() })).toMatchObject({ versionId: two._id });
    const draft = await published({ lessonId: one.lessonId, publish: false });
    for (const versionId of [draft._id, version._id, randomUUID()])
      expectError(await player.tell({ versionId }), 422, mismatch);
    await unpublish(api.db, one.lessonId, one._id);
    expect(await player.write(answer('q2', ['b']))).toMatchObject({ versionId: one._id, score: 2 });
    await unpublish(api.db, one.lessonId);
    const finish = { currentSectionIndex: 1, completed: true, ...answer('q3', ['b']) };
    expect(await player.write(finish)).toMatchObject({ status: 'completed', score: 3 });
    await deleteLesson(api.db, one.lessonId);
    expectError(await player.tell(), 404, denied);
  });

  test('may be the older one for a learner in mid-lesson; the record stays in the newer one', async () => {
    const one = await published();
    const [tab] = newDevices('embed', one);
    await tab.write({ currentStepIndex: 1, ...answer('q2', ['b']) });
    const two = await published({
      lessonId: one.lessonId,
      sections: [
        section('zero', step('s0', heading())),
        section('one', step('s1', heading()), step('s2', question('q2', 2), question('more', 4))),
      ],
    });
    const carried = { versionId: two._id, currentSectionIndex: 1, currentStepIndex: 1 };
    expect(await tab.read()).toMatchObject({ ...carried, totalSteps: 3, score: 2, maxScore: 6 });
    const moved = await tab.write({ ...carried });
    expect(moved).toMatchObject({ versionId: two._id, score: 2 });

    const went = await tab.write({ currentSectionIndex: 1, ...answer('q3', ['b']) });
    expect(went).toMatchObject({ versionId: one._id, score: 3, maxScore: 3 });
    const { learnerId } = went;
    expect(await recordOf(learnerId)).toMatchObject({ versionId: two._id });
    // The newer one lacks q3: its answer stays without points.
    const reloaded = await tab.read();
    expect(reloaded).toMatchObject({ versionId: two._id, score: 2, maxScore: 6, items: went.items });
  });
});
