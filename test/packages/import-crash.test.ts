import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Organization } from '../../shared/models/organization.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { digestOf } from '../../shared/storage/digest.ts';
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

/** Imports a package and dies, as in a power failure, right after the store has accepted this many files. */
const crashingImport = `
  const [root, path, slug, files] = process.argv.slice(1);
  const { findOrganizationBySlug } = await import(root + 'models/organization.ts');
  const { openDatabase } = await import(root + 'models/database.ts');
  const { importPackage } = await import(root + 'packages/import.ts');
  const { loadConfig } = await import(root + 'platform/config.ts');
  const { createStore } = await import(root + 'storage/create-store.ts');
  const { noLastUses } = await import(root + 'storage/store.ts');
  const config = loadConfig();
  const db = await openDatabase(config.mongodbUri);
  const disk = await createStore(config, noLastUses);
  let stored = 0;
  const put = async (source, announce) => {
    const blob = await disk.assets.put(source, announce);
    stored += 1;
    if (stored === Number(files)) process.kill(process.pid, 'SIGKILL');
    return blob;
  };
  const store = { ...disk, assets: { ...disk.assets, put } };
  const { signal } = new AbortController();
  await importPackage({ db, store, config }, await findOrganizationBySlug(db, slug), path, { asNew: false, signal });
`;

/** An import whose process is killed once the store has accepted this many files. */
async function crash({ path }: BuiltPackage, files: number): Promise<void> {
  const root = join(packageRoot, 'shared/');
  const flags = ['--import', 'tsx', '--input-type=module', '--eval', crashingImport];
  const args = [...flags, root, path, organization.slug, `${files}`];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...harness.environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [, signal] = (await once(child, 'exit')) as [unknown, string | null];
  expect(signal).toBe('SIGKILL');
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
