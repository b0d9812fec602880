import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { readAudit } from '../../shared/models/audit-entry.ts';
import { minRecords } from '../../shared/erasure/anonymize.ts';
import { erasuresInTurn, requestErasure } from '../../shared/erasure/erase.ts';
import { reapplyErasures } from '../../shared/erasure/reapply.ts';
import type { Database } from '../../shared/models/database.ts';
import { findErasure } from '../../shared/models/erasure.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { Player, publishLesson, useLesson } from '../player/player-lessons.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { crashAfter } from './crash-after.ts';
import { dumpOf, findMarkers, ofSubject, pathOf, plantLearner, restore } from './learner-lab.ts';
import type { MarkedLearner } from './learner-lab.ts';

const api = useApi();
const version = useLesson(api);

const deps = (db: Database = api.db) => ({ db, store: api.store, pepper: testPepper, settleMs: 0 });

/** Erases again what a restore has brought back, as `lectern doctor` does. */
function reapply() {
  const audit = new AuditLog({ db: api.db, log: { warn: () => undefined } });
  return reapplyErasures({ ...deps(), audit });
}

/** Returns the details of the erasures of a learner in the audit log. */
async function recordedErasures(learner: MarkedLearner): Promise<object[]> {
  const { organizationId } = learner.subject;
  const selection = { action: 'learner.erase', learner: pseudonymOf(testPepper, learner.subject) };
  const details: object[] = [];
  for await (const entry of readAudit(api.db, organizationId, selection)) details.push(entry.details);
  return details;
}

/** Runs all steps of all erasures, as a worker does. */
async function work(db?: Database): Promise<void> {
  const next = erasuresInTurn(deps(db));
  while (await next());
}

const erase = (learner: MarkedLearner, query: Record<string, string> = {}, headers = api.headers) =>
  ask(api.url + pathOf(learner, query), { method: 'DELETE', headers });

interface Report {
  id: string;
  state: string;
  removed: Record<string, number>;
  downstream: { gradebooks: object[] } | null;
}

async function reportOf(id: string, headers = api.headers): Promise<Report> {
  const answer = await ask(`${api.url}/api/erasures/${id}`, { headers });
  expect(answer.status).toBe(200);
  return jsonOf(answer) as Report;
}

const found = (learner: MarkedLearner) => findMarkers(api.db, learner.markers);

const removedOf = {
  embed: { progress: 1, ltiProgress: 0, grades: 0, deliveries: 3 },
  lti: { progress: 0, ltiProgress: 1, grades: 1, deliveries: 3 },
};

// Before others fill the database, which it restores again and again.
test('an erasure leaves nothing, whichever of its database operations a crash follows', async () => {
  const learner = await plantLearner(api, version, { source: 'lti' });
  await requestErasure(deps(), learner.subject);
  const dump = await dumpOf(api.db);
  for (let operations = 0; ; operations += 1) {
    await restore(api.db, dump);
    const isThrough = await crashAfter(api.db, operations, work);
    // The lease of the dead process expires.
    await api.db.erasures.updateMany({}, { $set: { leaseUntil: new Date(0) } });
    await api.db.erasures.updateMany({ dueAt: { $ne: null } }, { $set: { dueAt: new Date(0) } });
    await work();
    const [erasure] = await api.db.erasures.find({}).sort({ requestedAt: -1 }).lean();
    expect(erasure, `after ${operations} operations`).toMatchObject({
      state: 'finished',
      learner: null,
      removed: removedOf.lti,
    });
    expect(await found(learner), `after ${operations} operations`).toEqual([]);
    if (isThrough) break;
  }
});

describe.each(['embed', 'lti'] as const)('a learner of %s', (source) => {
  const removed = removedOf[source];

  test('is erased from every collection, and others with the same id are not', async () => {
    const learner = await plantLearner(api, version, { source });
    const id = learner.markers[0] as string;
    // The same id on another platform, in the other kind, and in another organization.
    const { organization } = await buildOrganization(api);
    const others = [
      await plantLearner(api, version, { source: 'lti', id }),
      await plantLearner(api, version, { source: source === 'lti' ? 'embed' : 'lti', id }),
      await plantLearner(api, await publishLesson(api, organization), { source, id }),
    ];
    const kept = await Promise.all(others.map(({ markers }) => findMarkers(api.db, markers.slice(1))));
    expect(kept.map(({ length }) => length > 0)).toEqual([true, true, true]);

    const preview = jsonOf(await erase(learner, { dryRun: 'true' })) as Report;
    expect(preview.removed).toEqual(removed);
    // A mistyped dry run must not erase.
    const mistyped = await erase(learner, { dry_run: 'true' });
    expectError(mistyped, 400, 'dry_run is not a known parameter');
    const requested = await erase(learner);
    expect(requested.status).toBe(202);
    const { id: erasureId } = jsonOf(requested) as Report;
    // A repeated request is the same erasure while it runs.
    expect(jsonOf(await erase(learner))).toMatchObject({ id: erasureId });
    await work();
    expect(await reportOf(erasureId)).toMatchObject({ state: 'finished', removed });
    const platformId = source === 'lti' ? (learner.subject as { platformId: string }).platformId : undefined;
    const named = platformId === undefined ? {} : { platformId };
    const entry = { ...named, mode: 'erase', isDryRun: false, erasureId };
    expect(await recordedErasures(learner)).toEqual([
      { ...named, mode: 'erase', isDryRun: true },
      entry,
      entry,
    ]);

    expect(await findMarkers(api.db, learner.markers.slice(1))).toEqual([]);
    expect(await Promise.all(others.map(({ markers }) => findMarkers(api.db, markers.slice(1))))).toEqual(
      kept,
    );
    // Afterwards it removes nothing more.
    const again = jsonOf(await erase(learner)) as Report;
    await work();
    expect(Object.values((await reportOf(again.id)).removed)).toEqual([0, 0, 0, 0]);
    for (const other of others.slice(0, 2)) await erase(other);
    await work();
    expect((await found(learner)).every((one) => one.includes(id))).toBe(true);
  });
});

test.each(['embed', 'lti'] as const)(
  'a learner of %s whose data a restore brings back is erased again; what the learner began later stays',
  async (source) => {
    const learner = await plantLearner(api, version, { source });
    const { organizationId } = learner.subject;
    const later = await publishLesson(api, { _id: organizationId, slug: 'x' } as Organization);
    const dump = await dumpOf(api.db);
    const { _id } = await requestErasure(deps(), learner.subject);
    await work();
    expect(await found(learner)).toEqual([]);
    await restore(api.db, dump);
    expect(await findErasure(api.db, organizationId, _id)).toBeNull();
    expect((await found(learner)).length).toBeGreaterThan(0);

    // A new record, with a token that was signed after the erasure.
    const model = source === 'embed' ? api.db.embedProgress : api.db.ltiProgress;
    const record =
      (await model.collection.findOne({ lessonId: version.lessonId, ...ofSubject(learner) })) ?? {};
    const at = new Date(Date.now() + 1000);
    const begun = {
      ...record,
      _id: randomUUID(),
      lessonId: later.lessonId,
      startedAt: at,
      lastActivityAt: at,
    };
    await model.collection.insertOne(begun as never);

    const before = (await recordedErasures(learner)).length;
    expect(await reapply()).toMatchObject({ reapplied: 1 });
    expect(await recordedErasures(learner)).toHaveLength(before + 1);
    const left = await model.collection.find(ofSubject(learner)).toArray();
    expect(left.map(({ lessonId }) => lessonId as string)).toEqual([later.lessonId]);
    expect((await learner.player.ask()).status).toBe(410);
    expect(await reapply()).toMatchObject({ reapplied: 0 });
  },
);

describe('after an erasure', () => {
  let learner: MarkedLearner;
  beforeEach(async () => {
    learner = await plantLearner(api, version, { source: 'embed' });
    await requestErasure(deps(), learner.subject);
  });

  test('an old token cannot write or read, before the job has run and after it', async () => {
    for (const run of [() => Promise.resolve(), () => work()]) {
      await run();
      expectError(await learner.player.ask(), 410, 'The data of this learner were erased');
      expectError(await learner.player.tell(), 410, 'The data of this learner were erased');
      const data = await ask(
        `${api.url}/api/public/lessons/${version.lessonId}/player-data?token=${learner.token}`,
      );
      expectError(data, 401, 'Token verification failed: Token revoked');
    }
    expect(await found(learner)).toEqual([]);
  });

  test('a token that is signed later begins a new record', async () => {
    await work();
    const learnerId = learner.markers[0] as string;
    const renewed = await waitFor('the next second', async () => {
      const player = new Player(api.url, version, buildLearnerToken(version, { learnerId }));
      const answer = await player.ask();
      return answer.status === 200 ? (jsonOf(answer) as { status: string }) : undefined;
    });
    expect(renewed.status).toBe('not_started');
  });
});

test('an organization with many erasures delays no erasure of another one', async () => {
  const [many, one] = [await buildOrganization(api), await buildOrganization(api)];
  const request = (organizationId: string, learnerId: string) =>
    requestErasure(deps(), { source: 'embed', organizationId, learnerId });
  for (const learnerId of ['a', 'b', 'c']) await request(many.organization._id, learnerId);
  const { _id, organizationId } = await request(one.organization._id, 'd');
  const next = erasuresInTurn(deps());
  await next();
  await next();
  expect(await findErasure(api.db, organizationId, _id)).toMatchObject({ state: 'settling' });
});

test('an LTI user’s report names the gradebook that keeps the grades', async () => {
  const learner = await plantLearner(api, version, { source: 'lti' });
  const { id } = jsonOf(await erase(learner)) as Report;
  await work();
  const { platformId } = learner.subject as { platformId: string };
  expect((await reportOf(id)).downstream?.gradebooks).toEqual([{ platformId, issuer: '', grades: 1 }]);
});

describe('anonymizing', () => {
  test.each([
    { others: minRecords - 2, stay: 0 },
    { others: minRecords - 1, stay: 1 },
  ])(
    'among $others others keeps $stay record, without answers, state, attributes and times',
    async ({ others, stay }) => {
      const lesson = await publishLesson(api, api.organization);
      for (let index = 0; index < others; index += 1) {
        await new Player(api.url, lesson, buildLearnerToken(lesson, { learnerId: `other-${index}` })).write();
      }
      const learner = await plantLearner(api, lesson, { source: 'embed' });
      expect((await erase(learner, { mode: 'anonymize' })).status).toBe(202);
      await work();
      expect(await found(learner)).toEqual([]);
      const left = await api.db.embedProgress
        .find({ lessonId: lesson.lessonId, learnerId: /^anonymous-/ })
        .lean();
      expect(left).toHaveLength(stay);
      for (const record of left) {
        expect(record).toMatchObject({ userAttributes: null, progressData: null, variables: [] });
        expect(record.items).toMatchObject([{ widgetId: 'dial', answer: 'null' }]);
        expect(record.lastActivityAt.getTime() % (24 * 3600_000)).toBe(0);
      }
    },
  );
});
