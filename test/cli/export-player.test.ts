import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { temporaryFolder } from '../exports/archives.ts';
import { takeApart } from '../exports/exports.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { lectern, lecternJson } from './command-line.ts';

let harness: Harness;
let version: LessonVersion;
beforeAll(async () => {
  harness = await startHarness();
  const { organization } = await buildOrganization(harness);
  version = await buildVersion(harness, organization, (await buildPackage()).path);
});
afterAll(() => harness.close());

test('lesson export --include player writes the same archive as the API with include=player', async () => {
  const folder = await temporaryFolder();
  const command = ['lesson', 'export', version.lessonId, '--out', folder, '--include', 'player'];
  const { path, sha256 } = (await lecternJson(harness.environment, ...command)) as {
    path: string;
    sha256: string;
  };
  expect(path).toBe(join(folder, 'a-lesson-v1.zip'));
  const { files } = await takeApart(await readFile(path));
  expect([...files.keys()]).toContain('index.html');
  const stored = await harness.store.archives.open(
    exportJobOf(version, `player:${(await playerRelease()).name}`).key,
  );
  expect(stored?.sha256).toBe(sha256);
  await stored?.close();
});

test('lesson export includes only the player', async () => {
  const folder = await temporaryFolder();
  const command = ['lesson', 'export', version.lessonId, '--out', folder, '--include', 'media'];
  const { code, stderr } = await lectern(harness.environment, ...command);
  expect(code).toBe(2);
  expect(stderr).toContain('Allowed choices are player.');
});
