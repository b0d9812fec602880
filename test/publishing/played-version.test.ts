import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPlayedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';

let harness: Harness;
beforeAll(async () => (harness = await startHarness()));
afterAll(() => harness.close());

/** A published lesson that has been published many times since; gives the version that is played. */
async function buildOftenPublished(organization: Parameters<typeof buildVersion>[1]): Promise<LessonVersion> {
  const { path } = await buildPackage();
  const first = await buildVersion(harness, organization, path, { publish: true });
  const published = first.publishedAt?.getTime() ?? 0;
  const later = Array.from({ length: 100 }, (_, index) => ({
    ...first,
    _id: randomUUID(),
    versionNumber: first.versionNumber + 1 + index,
    // Of two at the same time the one with the higher number counts.
    publishedAt: new Date(published + 1000 * Math.floor(index / 2)),
  }));
  await harness.db.lessonVersions.insertMany(later);
  return later.at(-1) ?? first;
}

/** What the queries of `work` read of a collection, documents of each query. */
async function documentsRead(collection: string, work: () => Promise<unknown>): Promise<unknown[]> {
  const { db } = harness.db.connection;
  if (db === undefined) throw new Error('not connected');
  await db.command({ profile: 2 });
  await work().finally(() => db.command({ profile: 0 }));
  const queries = await db
    .collection('system.profile')
    .find({ ns: `${db.databaseName}.${collection}` })
    .toArray();
  return queries.map(({ docsExamined }) => docsExamined as unknown);
}

test('of a lesson that was published often one version is read: the newest', async () => {
  const { organization } = await buildOrganization(harness);
  const lessons = [await buildOftenPublished(organization), await buildOftenPublished(organization)];
  const find = ({ lessonId }: LessonVersion) =>
    findPlayedVersion(harness.db, organization._id, lessonId, null);
  const played: (LessonVersion | null)[] = [];
  const read = await documentsRead('lessonVersions', async () => {
    played.push(...(await Promise.all(lessons.map(find))));
  });
  expect(played.map((version) => version?._id)).toEqual(lessons.map(({ _id }) => _id));
  expect(read).toEqual([lessons.length]);
});
