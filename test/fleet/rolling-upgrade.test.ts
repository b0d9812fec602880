import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../shared/platform/paths.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { downloadExport } from '../exports/exports.ts';
import {
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  statusPath,
} from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { longTimeoutMs, startFleet } from './fleet.ts';
import { spawnApi, spawnWorker } from './processes.ts';
import { temporaryFolder } from '../support/folders.ts';

const archiveFormat = /var archiveFormat = \d+;/;

/** Copies the compiled Lectern as another release, with another version, player and archive format. */
async function otherRelease(): Promise<string> {
  const root = await temporaryFolder();
  for (const folder of ['dist', join('player', 'dist')]) {
    await cp(join(packageRoot, folder), join(root, folder), { recursive: true });
  }
  await symlink(join(packageRoot, 'node_modules'), join(root, 'node_modules'));
  const description = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8')) as object;
  await writeFile(join(root, 'package.json'), JSON.stringify({ ...description, version: '99.0.0' }));
  const chunks = join(root, 'dist', 'chunks');
  let changed = 0;
  for (const name of await readdir(chunks)) {
    const source = await readFile(join(chunks, name), 'utf8');
    if (!archiveFormat.test(source)) continue;
    await writeFile(join(chunks, name), source.replace(archiveFormat, 'var archiveFormat = 99;'));
    changed += 1;
  }
  expect(changed).toBe(1);
  return root;
}

test('two releases side by side serve each other’s pages, and delay each other’s exports instead of losing them', async () => {
  const root = await otherRelease();
  const fleet = await startFleet();
  const { harness } = fleet;
  const { organization, headers } = await buildOrganization(harness);
  const version = await buildVersion(harness, organization, (await buildPackage()).path);
  const [old, next] = [await fleet.startApi(), await spawnApi(harness, {}, root)];
  const playersOf = async (api: { address: string }) => {
    const page = await ask(`${api.address}/embed/${version.lessonId}?token=${buildLearnerToken(version)}`);
    const files = page.body.toString().match(/\/player\/[^"'\s/]+\/[\w.-]+/g) ?? [];
    return [...new Set(files)];
  };
  const [oldFiles, nextFiles] = [await playersOf(old), await playersOf(next)];
  expect(nextFiles.some((file) => file.startsWith('/player/99.0.0-'))).toBe(true);
  expect(oldFiles).not.toEqual(nextFiles);
  for (const file of [...oldFiles, ...nextFiles]) {
    for (const { address } of [old, next]) {
      expect({ file, status: (await ask(address + file)).status }).toEqual({ file, status: 200 });
    }
  }
  expect((await ask(`${old.address}/player/98.0.0-00000000/player.js`)).status).toBe(404);

  // Archives of another format wait for a worker of their release.
  await fleet.startWorker();
  const plain = downloadExport(next.address, version, headers);
  const playing = ask(`${next.address}${exportPath(version)}?include=player`, { headers });
  for (const query of ['', '?include=player']) {
    const status = async () =>
      jsonOf(await ask(`${next.address}${statusPath(version)}${query}`, { headers }));
    await expect
      .poll(status, { timeout: longTimeoutMs })
      .toMatchObject({ status: 'queued', reason: 'no_worker' });
  }
  // Meanwhile the worker builds exports of its own release.
  expect((await downloadExport(old.address, version, headers)).manifest.failedWidgets).toEqual([]);
  await spawnWorker(harness, {}, root);
  expect((await plain).manifest.versionId).toBe(version._id);
  expect((await playing).status).toBe(200);
  await waitFor(
    'the queue to be empty',
    async () => (await harness.db.exportRecords.countDocuments()) === 3,
    longTimeoutMs,
  );
}, 180_000);
