import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteLesson, unpublish } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildLearnerToken } from '../support/factories.ts';
import { expectError, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { useApi, useStarted } from '../support/use.ts';
import {
  heading,
  Player,
  publishLesson,
  question,
  section,
  sessionOf,
  step,
  useLesson,
} from './player-lessons.ts';
import type { Session } from './player-lessons.ts';

const api = useApi();
const otherApi = useStarted(async () => ({ url: await api.startApi() }));
const version = useLesson(api);

/** Two tabs of a new learner, at two API processes. */
function newTabs(kind: 'embed' | 'launch' = 'embed', played = version): [Player, Player] {
  const token =
    kind === 'embed'
      ? buildLearnerToken(played, { learnerId: randomUUID() })
      : buildLaunchToken(played, { ltiUserId: randomUUID() });
  return [new Player(api.url, played, token), new Player(otherApi.url, played, token)];
}

const answer = (widgetId: string, given: unknown) => ({ items: [{ widgetId, answer: given }] });

/** Returns the stored record in the conflict response to a write. */
function conflictOf(refused: Answer): Session {
  const body = jsonOf(refused) as { current: Session };
  const error = 'The progress was changed since it was read';
  const { current } = body;
  expect({ status: refused.status, body }).toEqual({
    status: 409,
    body: { error, code: 'CONFLICT', current },
  });
  expect(refused.headers.get('error-code')).toBe('CONFLICT');
  return body.current;
}

describe.each(['embed', 'launch'] as const)('concurrent writes with an %s token', (kind) => {
  test.each([0, 1])('ten with revision %i: one is stored, nine get its record', async (revision) => {
    const tabs = newTabs(kind);
    if (revision === 1) await tabs[0].write();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        tabs[index % 2 === 0 ? 0 : 1].tell({ revision, currentStepIndex: 1, progressData: { index } }),
      ),
    );
    const [won, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    if (won === undefined) throw new Error('no write was stored');
    const stored = sessionOf(won);
    expect(stored.revision).toBe(revision + 1);
    for (const refused of answers.filter((one) => one !== won))
      expect(conflictOf(refused)).toStrictEqual(stored);
    expect(await tabs[1].read()).toStrictEqual(stored);
  });

  test('ten with the same idempotency key (writeId): it is stored once, and all get 200', async () => {
    const tabs = newTabs(kind);
    const fields = { writeId: randomUUID(), currentStepIndex: 1 };
    const sent = Array.from({ length: 10 }, (_, index) => tabs[index % 2 === 0 ? 0 : 1].write(fields));
    const sessions = await Promise.all(sent);
    for (const session of sessions) expect(session).toStrictEqual(sessions[0]);
    expect(await tabs[0].read()).toMatchObject({ revision: 1 });
  });
});

test('a write that is sent again with its writeId changes nothing, even with other writes in between', async () => {
  const [one, two] = newTabs();
  const fields = { revision: 0, writeId: randomUUID(), progressData: { of: 'one' } };
  await one.write(fields);
  const { lastActivityAt } = await two.write({ revision: 1, progressData: { of: 'two' } });
  const again = await one.write({ ...fields, writeId: fields.writeId.toUpperCase() });
  expect(again).toMatchObject({ revision: 2, progressData: { of: 'two' }, lastActivityAt });
});

test('a write names the one before it (`after`): if another device has created that revision, it is a conflict', async () => {
  const [closed, other] = newTabs();
  const lost = randomUUID();
  const stored = await other.write({ revision: 0, writeId: randomUUID(), ...answer('q2', ['a']) });
  const second = { revision: 1, writeId: randomUUID(), currentStepIndex: 1, ...answer('q2', ['b']) };
  expect(conflictOf(await closed.tell({ ...second, after: lost }))).toStrictEqual(stored);
  const [first, next] = newTabs();
  await first.write({ revision: 0, writeId: lost });
  expect(await next.write({ ...second, after: lost.toUpperCase() })).toMatchObject({ revision: 2 });
});

test('writes sent at once with consecutive revisions are all stored, in their order', async () => {
  const [one] = newTabs();
  const last = one.write({ revision: 2, currentStepIndex: 0 });
  const second = one.write({ revision: 1, currentStepIndex: 1, ...answer('q2', ['b']) });
  await one.write({ revision: 0, currentStepIndex: 1 });
  expect(await second).toMatchObject({ revision: 2, currentStepIndex: 1 });
  expect(await last).toMatchObject({ revision: 3, currentStepIndex: 0, score: 2 });
});

test('a missing revision is a conflict, and is reported before an invalid position', async () => {
  const [one] = newTabs();
  expect(conflictOf(await one.tell({ revision: 1 }))).toMatchObject({ revision: 0, status: 'not_started' });
  await one.write();
  // The version may have changed, so the position need not be wrong.
  conflictOf(await one.tell({ revision: 0, currentSectionIndex: 99 }));
  expect(conflictOf(await one.tell({ revision: 1_000_000 }))).toMatchObject({ revision: 1 });
});

test('two tabs that write out of order and twice lose no answer and no completion', async () => {
  const [one, two] = newTabs();
  const first = { revision: 0, writeId: randomUUID(), currentStepIndex: 1, ...answer('q2', ['b']) };
  await one.write(first);
  const last = { currentSectionIndex: 1, completed: true, writeId: randomUUID(), ...answer('q3', ['b']) };
  const { revision } = conflictOf(await two.tell({ revision: 0, ...last }));
  const done = await two.write({ revision, ...last });
  expect(done).toMatchObject({ status: 'completed', score: 3, maxScore: 3 });

  // The first tab wakes up, repeats its write, and continues from its own revision.
  expect(await one.write(first)).toMatchObject({ revision: 2, status: 'completed', score: 3 });
  conflictOf(await one.tell({ revision: 1, currentStepIndex: 0 }));
  const back = await one.write({ revision: 2, currentStepIndex: 0 });
  const kept = { status: 'completed', completedAt: done.completedAt, score: 3, items: done.items };
  expect(back).toMatchObject({ revision: 3, currentSectionIndex: 0, ...kept });
});

describe('the attempt of a write', () => {
  const finish = { currentSectionIndex: 1, completed: true };

  test.each(['embed', 'launch'] as const)('late ones of an %s token change nothing', async (kind) => {
    const [phone, laptop] = newTabs(kind);
    await laptop.write({ attempt: 1, ...finish, ...answer('q2', ['b']) });
    const restarted = await laptop.write({ revision: 1, attempt: 2, restart: true });
    expect(restarted).toMatchObject({ attempt: 2, score: null, items: null });
    const wrong = await laptop.write({ revision: 2, attempt: 2, ...answer('q2', ['a']) });
    // The phone has answered everything and finished while it was offline.
    const late = { attempt: 1, ...finish, ...answer('q3', ['b']) };
    for (const revision of [0, 3]) expect(await phone.write({ revision, ...late })).toStrictEqual(wrong);
    expect(await phone.read()).toStrictEqual(wrong);
  });

  test('is the current one by default, and a later one is a conflict', async () => {
    const [one] = newTabs();
    expect(await one.write()).toMatchObject({ revision: 1, attempt: 1 });
    expect(await one.write({ revision: 1, restart: true })).toMatchObject({ revision: 2, attempt: 2 });
    expect(await one.write({ revision: 2 })).toMatchObject({ revision: 3, attempt: 2 });
    conflictOf(await one.tell({ revision: 3, attempt: 3 }));
    // A restart may name the attempt that it ends or the one that it begins.
    expect(await one.write({ revision: 3, attempt: 2, restart: true })).toMatchObject({ attempt: 3 });
    expect(await one.write({ revision: 4, attempt: 4, restart: true })).toMatchObject({ attempt: 4 });
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
    const refused = await player.tell({ revision: 1, versionId: two._id });
    expectError(refused, 422, 'versionId must be the version that the token names');
    await unpublish(api.db, one.lessonId, one._id);
    expectError(await player.ask(), 404, denied);
    // A page that already plays it saves its answers there.
    expect(await player.write({ revision: 1, ...answer('q2', ['b']) })).toMatchObject({ score: 2 });
  });

  test('may be any version of the lesson that was ever published, if none is pinned', async () => {
    const one = await published();
    const [player] = newTabs('embed', one);
    const two = await published({ lessonId: one.lessonId });
    expect(await player.write()).toMatchObject({ versionId: one._id });
    expect(await player.write({ revision: 1, versionId: two._id.toUpperCase() })).toMatchObject({
      versionId: two._id,
    });
    const draft = await published({ lessonId: one.lessonId, publish: false });
    for (const versionId of [draft._id, version._id, randomUUID()])
      expectError(await player.tell({ revision: 2, versionId }), 422, mismatch);
    await unpublish(api.db, one.lessonId, one._id);
    const played = await player.write({ revision: 2, ...answer('q2', ['b']) });
    expect(played).toMatchObject({ versionId: one._id, score: 2 });
    await unpublish(api.db, one.lessonId);
    const finish = { revision: 3, currentSectionIndex: 1, completed: true, ...answer('q3', ['b']) };
    expect(await player.write(finish)).toMatchObject({ status: 'completed', score: 3 });
    await deleteLesson(api.db, one.lessonId);
    expectError(await player.tell({ revision: 4 }), 404, denied);
  });

  test('may be the older one for a learner in mid-lesson; a reload continues in the newer one', async () => {
    const one = await published();
    const [tab] = newTabs('embed', one);
    await tab.write({ currentStepIndex: 1, ...answer('q2', ['b']) });
    const two = await published({
      lessonId: one.lessonId,
      sections: [
        section('zero', step('s0', heading())),
        section('one', step('s1', heading()), step('s2', question('q2', 2), question('more', 4))),
      ],
    });
    const carried = { versionId: two._id, revision: 1, currentSectionIndex: 1, currentStepIndex: 1 };
    expect(await tab.read()).toMatchObject({ ...carried, totalSteps: 3, score: 2, maxScore: 6 });

    const went = await tab.write({ revision: 1, currentSectionIndex: 1, ...answer('q3', ['b']) });
    expect(went).toMatchObject({ versionId: one._id, revision: 2, score: 3, maxScore: 3 });
    const reloaded = await tab.read();
    // The newer one lacks q3: its answer stays without points.
    expect(reloaded).toMatchObject({ versionId: two._id, revision: 2, score: 2, maxScore: 6 });
    expect(reloaded.items).toEqual(went.items);
    const moved = await tab.write({ revision: 2, versionId: two._id, currentSectionIndex: 1 });
    expect(moved).toMatchObject({ versionId: two._id, revision: 3, score: 2, items: went.items });
    expect(await tab.write({ revision: 3 })).toMatchObject({ versionId: one._id, score: 3, maxScore: 3 });
  });
});
