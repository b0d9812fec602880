import { basename } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Organization } from '../../shared/models/organization.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { importPackage } from '../../shared/packages/import.ts';
import { removeUnfinishedImports } from '../../shared/packages/unfinished-imports.ts';
import { removeUnusedAssets } from '../../shared/assets/stored-assets.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import type { BuiltPackage } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { changeJson, everythingStored, importInto, picture } from './import-support.ts';

const harness = useHarness();
let organization: Organization;
beforeAll(async () => {
  ({ organization } = await buildOrganization(harness));
});

interface Stored {
  contents: { versionId: string }[];
  media: { asset: { sha256: string } | null }[];
  files: string[];
}

/** An import that ends, as in a power failure, once the store has accepted this many files. */
async function crash({ path }: BuiltPackage, files: number): Promise<void> {
  const { db, config, store } = harness;
  await new Promise<void>((reached) => {
    let stored = 0;
    const put: typeof store.assets.put = async (source, announce) => {
      const blob = await store.assets.put(source, announce);
      stored += 1;
      if (stored < files) return blob;
      reached();
      return new Promise(() => undefined);
    };
    const crashing = { ...store, assets: { ...store.assets, put } };
    const options = { asNew: false, signal: new AbortController().signal };
    void importPackage({ db, store: crashing, config }, organization, path, options);
  });
}

/** A sweep that treats every import without a process as abandoned. */
const sweepAll = async () => {
  await harness.store.sweepTemporaries(0);
  const imports = await removeUnfinishedImports(harness.db, 0);
  await removeUnusedAssets(harness.db, harness.store, 0);
  return imports;
};

test("the sweep removes a killed import's files, except files with references; its package can be imported before", async () => {
  const kept = await buildPackage({ media: [picture(1)] });
  await importInto(harness, organization, kept.path);
  const built = await buildPackage({ media: Array.from({ length: 12 }, (_, index) => picture(index + 1)) });
  await crash(built, 7);
  // As far as the sweep knows, the import may still be running.
  expect(await removeUnfinishedImports(harness.db, 3600)).toBe(0);

  // The second attempt uses only some of the stored files.
  await changeJson(built.path, 'manifest.json', ({ files }) => files.media.splice(3));
  const { version } = await importInto(harness, organization, built.path);
  expect(version).toMatchObject({ lessonId: built.lessonId, versionNumber: 1 });
  expect(version._id).not.toBe(built.versionId);

  expect(await waitFor('the sweep', sweepAll)).toBe(1);
  const { contents, media, files } = (await everythingStored(harness)) as Stored;
  expect(contents.map(({ versionId }) => versionId).sort()).toEqual([kept.versionId, version._id].sort());
  const digests = [1, 2, 3].map((seed) => digestOf(picture(seed).bytes).sha256);
  expect(media.map(({ asset }) => asset?.sha256).sort()).toEqual([...digests, digests[0]].sort());
  expect(files.map((path) => basename(path)).sort()).toEqual(digests.sort());
  expect(await sweepAll()).toBe(0);
});
