import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { buildIndexes, missingIndexes } from '../../shared/models/database.ts';
import { useHarness } from '../support/use.ts';

/** Not among the databases whose indexes each process of the tests builds once. */
const harness = useHarness(() => {
  const mongodb = new URL(inject('mongodbUri'));
  mongodb.pathname = `/${randomUUID()}`;
  return { MONGODB_URI: mongodb.href };
});

test('a missing index is reported with its collection and fields, until it is built, also concurrently', async () => {
  expect(await missingIndexes(harness.db)).toStrictEqual([]);
  await harness.db.lessonVersions.collection.dropIndex('lessonId_1_versionNumber_1');
  expect(await missingIndexes(harness.db)).toStrictEqual([
    'lessonVersions: {"lessonId":1,"versionNumber":1}',
  ]);
  await Promise.all([buildIndexes(harness.db), buildIndexes(harness.db)]);
  expect(await missingIndexes(harness.db)).toStrictEqual([]);
});

test.each([
  ['organizations', 'slug'],
  ['lessonVersions', 'lessonId versionNumber'],
  ['lessonContents', 'versionId part'],
  ['media', 'versionId mediaId'],
  ['widgetReleases', 'organizationId widgetId type'],
  ['exportRecords', 'exportKey contentDigest'],
  ['users', 'email'],
  ['tokenRevocations', 'organizationId lessonId learnerId'],
  ['embedProgress', 'organizationId lessonId learnerId'],
  ['ltiProgress', 'organizationId lessonId platformId ltiUserId contextId'],
  ['courses', 'organizationId platformId contextId'],
  ['preparedParts', 'versionId format kind part'],
] as const)('the index of %s on %s is unique', async (collection, fields) => {
  const indexes = await harness.db[collection].collection.indexes();
  const unique = indexes
    .filter((index) => index.unique === true)
    .map(({ key }) => Object.keys(key).join(' '));
  expect(unique).toContain(fields);
});
