import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Organization } from '../../shared/models/organization.ts';
import type { PackageError } from '../../shared/packages/package-error.ts';
import { findReleases } from '../../shared/models/widget-release.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { removeUnusedAssets, storeAsset } from '../../shared/assets/stored-assets.ts';
import { removeUnusedReleases } from '../../shared/widgets/releases.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import type { BuiltPackage } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import {
  addWidgets,
  changeJson,
  damagedArchive,
  everythingStored,
  importInto,
  picture,
  watchUploads,
} from './import-support.ts';
import type { PackageJson } from './import-support.ts';

const harness = useHarness();
let organization: Organization;
beforeAll(async () => {
  ({ organization } = await buildOrganization(harness));
});

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

/** Runs a failing import and returns its error, after checking that the next sweep leaves nothing behind. */
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
  test.each([
    ['a picture', (ids: string[]) => `media/${ids[5]}.png`],
    ['a stylesheet', () => 'widgets/Timer.css'],
  ])('%s is damaged', async (_what, nameOf) => {
    const { path, mediaIds } = await somePackage();
    const archive = await damagedArchive(path, nameOf(mediaIds));
    const error = await failureOf(() => importInto(harness, organization, archive));
    expect(error.message).toContain(`${nameOf(mediaIds)}: is damaged`);
  });

  const wrong = 'ab'.repeat(32);
  test.each<[string, (files: PackageJson['files']) => void, string]>([
    [
      'a picture',
      ({ media }) => Object.assign(media[3] ?? {}, { sha256: wrong }),
      `.png: its SHA-256 is ${digestOf(picture(4).bytes).sha256}, and`,
    ],
    [
      'a module',
      ({ widgets }) => Object.assign(widgets[0] ?? {}, { sha256: wrong }),
      'widgets/Timer.js: its',
    ],
    [
      'a stylesheet',
      ({ widgets }) => Object.assign(widgets[0] ?? {}, { cssSha256: wrong }),
      'widgets/Timer.css: its',
    ],
  ])('%s does not match its SHA-256 in the manifest', async (_what, change, message) => {
    const { path } = await somePackage();
    await changeJson(path, 'manifest.json', ({ files }) => change(files));
    const error = await failureOf(() => importInto(harness, organization, path));
    expect(error.message).toContain(message);
    expect(error.message).toContain(`manifest.json says ${wrong}`);
  });

  test.each([true, false])(
    'two files are damaged, with faults in lesson.json: %s; all are reported at once',
    async (isWrong) => {
      const { path, mediaIds } = await somePackage();
      await changeJson(path, 'manifest.json', ({ files: { media, widgets } }) => {
        for (const entry of [media[1], media[4]]) Object.assign(entry ?? {}, { sha256: wrong });
        Object.assign(widgets[1] ?? {}, { sha256: wrong });
      });
      if (isWrong) await changeJson(path, 'lesson.json', ({ lesson }) => Object.assign(lesson, { title: 7 }));
      const error = await failureOf(() => importInto(harness, organization, path));
      const places = (error as PackageError).faults.map((fault) =>
        fault.replace(/: (its SHA-256 is|must be a string).*/s, ''),
      );
      expect(places.toSorted()).toEqual(
        [
          ...(isWrong ? ['lesson.json: lesson.title'] : []),
          `media/${mediaIds[1]}.png`,
          `media/${mediaIds[4]}.png`,
          'widgets/Map.js',
        ].toSorted(),
      );
    },
  );

  test.each([1, 9])('it is aborted before upload %i', async (when) => {
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

  test('another organization took the lesson id during the import', async () => {
    const { path, lessonId } = await somePackage();
    const other = await buildOrganization(harness);
    // Taken during the import, after its first check.
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
    `lesson.json: lesson.id: ${lessonId} is a lesson of another organization. Import it with --as-new to make a copy.`,
  );
  expect(uploads).toBe(0);
});

async function packageWith(...widgets: string[]): Promise<string> {
  const { path } = await buildPackage();
  await addWidgets(
    path,
    widgets.map((type) => ({ type, js: `export default '${type}'` })),
  );
  return path;
}

/** A step that the test waits for and then lets continue. */
function gate() {
  let reach: () => void = () => undefined;
  let open: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { reached, open: () => open(), pass: () => (reach(), opened) };
}

test('a failed import keeps a widget file that another import stored in between', async () => {
  const { reached, open, pass } = gate();
  const slowStore = watchUploads(harness.store, async (count) => {
    if (count === 2) await pass();
  });
  const slowPackage = await packageWith('Shared', 'Second');
  let slow: ReturnType<typeof importInto> | undefined;
  const failingStore = watchUploads(harness.store, async (count) => {
    if (count < 2) return;
    slow = importInto({ ...harness, store: slowStore }, organization, slowPackage);
    await reached;
    throw new Error('no space left on device');
  });
  const failing = await packageWith('Shared', 'Other');
  await expect(importInto({ ...harness, store: failingStore }, organization, failing)).rejects.toThrow(
    'no space left on device',
  );
  open();
  const pins = (await slow)?.version.widgets ?? [];
  const ids = pins.map(({ widgetId }) => widgetId);
  const releases = await findReleases(harness.db, organization._id, ids);
  expect(releases).toHaveLength(2);
  await removeUnusedAssets(harness.db, harness.store, 0);
  for (const { js } of releases) expect(await harness.store.assets.has(js)).toBe(true);
});

test('a sweep removes a file without references a day after it was last stored', async () => {
  const { bytes } = picture(100);
  const storePicture = () => storeAsset(harness.db, harness.store, bytesOf(bytes));
  await storePicture();
  const dayAgo = new Date(Date.now() - 24 * 3_600_000);
  const { sha256 } = digestOf(bytes);
  await harness.db.assetNotes.updateOne({ _id: sha256 }, { $set: { notedAt: dayAgo } });
  await storePicture();
  await removeUnusedAssets(harness.db, harness.store, 12 * 3600);
  expect(await harness.store.assets.has(digestOf(bytes))).toBe(true);

  await harness.db.assetNotes.updateOne({ _id: sha256 }, { $set: { notedAt: dayAgo } });
  await removeUnusedAssets(harness.db, harness.store, 12 * 3600);
  expect(await harness.store.assets.has(digestOf(bytes))).toBe(false);
});

test('a file that a sweep is removing is stored again after the removal', async () => {
  const { bytes } = picture(101);
  await storeAsset(harness.db, harness.store, bytesOf(bytes));
  const { reached, open, pass } = gate();
  const remove = async (sha256: string) => {
    await pass();
    await harness.store.assets.delete(sha256);
  };
  const slow = { ...harness.store, assets: { ...harness.store.assets, delete: remove } };
  const sweeping = removeUnusedAssets(harness.db, slow, 0);
  await reached;
  const storing = storeAsset(harness.db, harness.store, bytesOf(bytes));
  open();
  await Promise.all([sweeping, storing]);
  expect(await harness.store.assets.has(digestOf(bytes))).toBe(true);
});
