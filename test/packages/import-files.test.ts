import { afterAll, beforeAll, expect, test } from 'vitest';
import { findReleases } from '../../shared/models/widget-release.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { removeUnusedAssets, storeAsset } from '../../shared/assets/stored-assets.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { addWidgets, importInto, picture, watchUploads } from './import-support.ts';

let harness: Harness;
let organization: Organization;
beforeAll(async () => {
  harness = await startHarness();
  ({ organization } = await buildOrganization(harness));
});
afterAll(() => harness.close());

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
