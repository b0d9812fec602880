import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Organization } from '../../shared/models/organization.ts';
import { removeUnfinishedImports } from '../../shared/packages/unfinished-imports.ts';
import { removeUnusedAssets } from '../../shared/assets/stored-assets.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import type { BuiltPackage } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { everythingStored, importInto, picture } from './import-support.ts';

let harness: Harness;
let organization: Organization;
beforeAll(async () => {
  harness = await startHarness();
  ({ organization } = await buildOrganization(harness));
});
afterAll(() => harness.close());

/** An import whose process is killed once the store has accepted this many files. */
async function crash({ path }: BuiltPackage, files: number): Promise<void> {
  const script = fileURLToPath(new URL('crashing-import.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, path, organization.slug, `${files}`], {
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

test("the sweep removes a killed import's files, except files with references", async () => {
  const kept = await buildPackage({ media: [picture(1)] });
  await importInto(harness, organization, kept.path);
  const before = await everythingStored(harness);
  const media = Array.from({ length: 12 }, (_, index) => picture(index + 1));

  await crash(await buildPackage({ media }), 7);
  expect(await everythingStored(harness)).not.toEqual(before);
  // It may still be running, as far as the sweep knows.
  expect(await removeUnfinishedImports(harness.db, 3600)).toBe(0);
  expect(await waitFor('the sweep', sweepAll)).toBe(1);
  expect(await everythingStored(harness)).toEqual(before);
});

test('a package whose import was killed can be imported before the sweep, and the sweep keeps it', async () => {
  const media = Array.from({ length: 6 }, (_, index) => picture(index + 20));
  const built = await buildPackage({ media });
  await crash(built, 4);
  const { version } = await importInto(harness, organization, built.path);
  expect(version).toMatchObject({ lessonId: built.lessonId, versionNumber: 1 });
  const unfinished = await everythingStored(harness);

  expect(await waitFor('the sweep', sweepAll)).toBe(1);
  expect(await everythingStored(harness)).not.toEqual(unfinished);
  const stored = await harness.db.media.find({ versionId: version._id }).lean().exec();
  expect(stored.length).toBe(6);
  for (const { asset } of stored) expect(asset && (await harness.store.assets.has(asset))).toBe(true);
  expect(await sweepAll()).toBe(0);
});
