import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Organization } from '../../shared/models/organization.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { removeUnusedAssets } from '../../shared/assets/stored-assets.ts';
import { removeUnusedReleases } from '../../shared/widgets/releases.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import type { BuiltPackage } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import {
  addWidgets,
  changeJson,
  damagedArchive,
  everythingStored,
  importInto,
  picture,
  watchUploads,
} from './import-support.ts';

let harness: Harness;
let organization: Organization;
beforeAll(async () => {
  harness = await startHarness();
  ({ organization } = await buildOrganization(harness));
});
afterAll(() => harness.close());

const shared = picture(1);

/** Six pictures, the first of which another lesson also has, and two widgets. */
async function somePackage(): Promise<BuiltPackage> {
  const media = [shared, ...[2, 3, 4, 5, 6].map(picture)];
  const built = await buildPackage({ media });
  await addWidgets(built.path, [
    { type: 'Timer', js: 'export default 1', css: '.timer {}' },
    { type: 'Map', js: 'export default 2' },
  ]);
  return built;
}

/**
 * Runs a failing import and returns its error, after checking that the next sweep leaves nothing
 * behind.
 */
async function failureOf(attempt: () => Promise<unknown>): Promise<Error> {
  const { path } = await buildPackage({ media: [shared] });
  await importInto(harness, organization, path);
  await removeUnusedReleases(harness.db, -1);
  await removeUnusedAssets(harness.db, harness.store, 0);
  const before = await everythingStored(harness);
  const error: unknown = await attempt().then(
    () => undefined,
    (failure: unknown) => failure,
  );
  await removeUnusedReleases(harness.db, -1);
  await removeUnusedAssets(harness.db, harness.store, 0);
  expect(await everythingStored(harness)).toEqual(before);
  expect(await harness.store.assets.has(digestOf(shared.bytes))).toBe(true);
  return error as Error;
}

describe('a failed import leaves nothing, and files with other references stay, when', () => {
  test.each([0, 2, 5])('picture %i is damaged', async (index) => {
    const { path, mediaIds } = await somePackage();
    const archive = await damagedArchive(path, `media/${mediaIds[index]}.png`);
    const error = await failureOf(() => importInto(harness, organization, archive));
    expect(error.message).toContain(`media/${mediaIds[index]}.png: is damaged`);
  });

  test('a picture does not match the SHA-256 in the manifest', async () => {
    const { path, mediaIds } = await somePackage();
    const wrong = 'ab'.repeat(32);
    await changeJson(path, 'manifest.json', ({ files }) => {
      (files.media[3] as { sha256?: string }).sha256 = wrong;
    });
    const error = await failureOf(() => importInto(harness, organization, path));
    expect(error.message).toBe(
      `media/${mediaIds[3]}.png: its SHA-256 is ${digestOf(picture(4).bytes).sha256}, and manifest.json says ${wrong}`,
    );
  });

  test.each([
    ['sha256', 'Timer.js'],
    ['cssSha256', 'Timer.css'],
  ] as const)('the %s in the manifest does not match the widget file %s', async (field, name) => {
    const { path } = await somePackage();
    const wrong = 'cd'.repeat(32);
    await changeJson(path, 'manifest.json', ({ files }) => {
      const [timer] = files.widgets;
      if (timer !== undefined) timer[field] = wrong;
    });
    const error = await failureOf(() => importInto(harness, organization, path));
    expect(error.message).toMatch(
      new RegExp(`widgets/${name}: its SHA-256 is .*manifest.json says ${wrong}`),
    );
  });

  test.each(['Timer.js', 'Timer.css', 'Map.js'])('the widget file %s is damaged', async (name) => {
    const { path } = await somePackage();
    const archive = await damagedArchive(path, `widgets/${name}`);
    const error = await failureOf(() => importInto(harness, organization, archive));
    expect(error.message).toContain(`widgets/${name}: is damaged`);
  });

  test.each([1, 4, 7, 9])('it is aborted before upload %i', async (when) => {
    const { path } = await somePackage();
    const controller = new AbortController();
    const reason = new Error('interrupted');
    const store = watchUploads(harness.store, (count) => {
      if (count === when) controller.abort(reason);
    });
    const { signal } = controller;
    expect(await failureOf(() => importInto({ ...harness, store }, organization, path, { signal }))).toBe(
      reason,
    );
  });

  test('it was aborted before it began', async () => {
    const { path } = await somePackage();
    const signal = AbortSignal.abort(new Error('interrupted'));
    expect((await failureOf(() => importInto(harness, organization, path, { signal }))).message).toBe(
      'interrupted',
    );
  });

  test.each([2, 8])('the store fails at upload %i', async (when) => {
    const { path } = await somePackage();
    const store = watchUploads(harness.store, (count) => {
      if (count === when) throw new Error('no space left on device');
    });
    const error = await failureOf(() => importInto({ ...harness, store }, organization, path));
    expect(error.message).toBe('no space left on device');
  });

  test('another organization took the lesson id during the import', async () => {
    const { path, lessonId } = await somePackage();
    const other = await buildOrganization(harness);
    // Taken at the last moment, after the check at the start found it free.
    const taken = await buildPackage({ lesson: { id: lessonId } });
    await changeJson(taken.path, 'manifest.json', (manifest) => Object.assign(manifest, { lessonId }));
    const store = watchUploads(harness.store, async (count) => {
      if (count === 1) await importInto(harness, other.organization, taken.path);
    });
    const importing = importInto({ ...harness, store }, organization, path);
    await expect(importing).rejects.toThrow(/is a lesson of another organization. Import it with --as-new/);
    const versions = await harness.db.lessonVersions.find({ lessonId }).lean().exec();
    expect(versions.map(({ organizationId }) => organizationId)).toEqual([other.organization._id]);
  });
});

test('an existing release keeps its age when an import with the same widget fails', async () => {
  const older = await buildPackage();
  await addWidgets(older.path, [{ type: 'Clock', js: 'export default "old"' }]);
  await importInto(harness, organization, older.path);
  const newer = await buildPackage();
  await addWidgets(newer.path, [{ type: 'Clock', js: 'export default "new"' }]);
  await importInto(harness, organization, newer.path);

  const failing = await buildPackage();
  await addWidgets(failing.path, [
    { type: 'Clock', js: 'export default "old"' },
    { type: 'Broken', js: 'export default 3' },
  ]);
  const archive = await damagedArchive(failing.path, 'widgets/Broken.js');
  expect((await failureOf(() => importInto(harness, organization, archive))).message).toContain('is damaged');
});

test('a failed import can be retried, and succeeds with the same ids', async () => {
  const { path, versionId, mediaIds } = await somePackage();
  const archive = await damagedArchive(path, `media/${mediaIds[4]}.png`);
  await expect(importInto(harness, organization, archive)).rejects.toThrow('is damaged');
  const { version, media, widgets } = await importInto(harness, organization, path);
  expect({ id: version._id, number: version.versionNumber, media, widgets }).toEqual({
    id: versionId,
    number: 1,
    media: 6,
    widgets: 2,
  });
});

test('a lesson of another organization is rejected before anything is read', async () => {
  const { path, lessonId } = await somePackage();
  await importInto(harness, organization, path);
  const { organization: other } = await buildOrganization(harness);
  await changeJson(path, 'manifest.json', (manifest) => {
    manifest.versionId = randomUUID();
  });
  let uploads = 0;
  const store = watchUploads(harness.store, () => {
    uploads += 1;
  });
  const error = await failureOf(() => importInto({ ...harness, store }, other, path));
  expect(error.message).toBe(
    `lesson.json: lesson.id: ${lessonId} is a lesson of another organization. Import it with --as-new for a copy of its own.`,
  );
  expect(uploads).toBe(0);
});
