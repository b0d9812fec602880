import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { childEnvironment } from '../../shared/platform/config.ts';
import { entryPoint } from '../../shared/platform/paths.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { expectGeneratedMedia } from './archive-check.ts';
import { printFigure } from './figures.ts';
import { generateBytes, sumsOf } from './generated-bytes.ts';
import { peakMegabytes, peakMegabytesUntil } from './memory.ts';
import { startGeneratedOrigin } from './origin.ts';

const MB = 1024 ** 2;
const run = promisify(execFile);

/** 1,000 media and 2 GB in all: most of a page's size, some of a video's. */
const mediaSizes = Array.from({ length: 1000 }, (_, index) => (index % 100 === 0 ? 100 * MB : MB));
const mediaIds = mediaSizes.map(() => randomUUID());
const totalMegabytes = mediaSizes.reduce((sum, size) => sum + size, 0) / MB;

/** What a process may hold, however large the lesson is. */
const allowedMegabytes = 300;

const medium = { mimeType: 'application/pdf', extension: 'pdf' };

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-heavy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Downloads an archive to a file; gives the seconds until the answer began and until it ended. */
async function download(
  url: string,
  headers: Record<string, string>,
  path: string,
): Promise<{ waited: number; total: number }> {
  const started = performance.now();
  const response = await fetch(url, { headers });
  const answered = performance.now();
  if (response.body === null) throw new Error('No body');
  expect(response.status).toBe(200);
  await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
  return { waited: (answered - started) / 1000, total: (performance.now() - started) / 1000 };
}

/** Exports a version twice, built and then from the store, checks the archive, and prints what it took. */
async function measureExport(
  harness: Harness,
  name: string,
  asked: { path: string; folder: string; headers: Record<string, string> },
): Promise<void> {
  const [api, worker] = await Promise.all([spawnApi(harness), spawnWorker(harness)]);
  const folder = await temporaryFolder();
  const [built, stored] = [join(folder, 'built.zip'), join(folder, 'stored.zip')];
  const first = await download(`${api.address}${asked.path}`, asked.headers, built);
  const second = await download(`${api.address}${asked.path}`, asked.headers, stored);
  const [workerPeak, apiPeak] = [await peakMegabytes(worker.pid), await peakMegabytes(api.pid)];
  printFigure(name, {
    MB: totalMegabytes,
    'seconds to build': first.waited,
    'MB/s built': totalMegabytes / first.waited,
    'seconds from the store': second.total,
    'MB/s served': totalMegabytes / second.total,
    'peak MB of the worker': workerPeak,
    'peak MB of the API': apiPeak,
  });
  const wanted = new Map(mediaIds.map((id, index) => [id, sumsOf(index, mediaSizes[index] ?? 0)]));
  await expectGeneratedMedia(built, asked.folder, wanted);
  await run('cmp', [built, stored]);
  // Another reader than the one that this project uses.
  await run('python3', [
    '-c',
    'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None',
    built,
  ]);
  expect(workerPeak).toBeLessThan(allowedMegabytes);
  expect(apiPeak).toBeLessThan(allowedMegabytes);
}

test('a lesson of 1,000 external media and 2 GB is exported whole, in constant memory', async () => {
  const origin = await startGeneratedOrigin();
  const harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  onTestFinished(() => harness.close());
  const { organization, headers } = await buildOrganization(harness);
  const media = mediaSizes.map((size, index) => ({
    ...medium,
    id: mediaIds[index] ?? '',
    sourceUrl: origin.url(index, size),
  }));
  const built = await buildPackage({ media });
  onTestFinished(() => rm(built.path, { recursive: true }));
  const version = await buildVersion(harness, organization, built.path);
  const folder = `${version.slug}-v${version.versionNumber}`;
  await measureExport(harness, 'export of external media', { path: exportPath(version), folder, headers });
});

test('a package of 1,000 media and 2 GB is imported and exported whole, in constant memory', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { organization, headers } = await buildOrganization(harness);
  const { path } = await buildPackage({ media: mediaIds.map((id) => ({ ...medium, id })) });
  onTestFinished(() => rm(path, { recursive: true }));
  await mkdir(join(path, 'media'));
  for (const [index, size] of mediaSizes.entries()) {
    await writeFile(join(path, 'media', `${mediaIds[index]}.pdf`), generateBytes(index, size));
  }

  const started = performance.now();
  const imported = await importByCommand(harness, ['lesson', 'import', path, '--org', organization.slug]);
  const seconds = (performance.now() - started) / 1000;
  printFigure('import of a folder', {
    MB: totalMegabytes,
    seconds,
    'MB/s': totalMegabytes / seconds,
    'peak MB of the command': imported.peak,
  });
  expect(imported.peak).toBeLessThan(allowedMegabytes);

  const { lessonId, versionId, slug, versionNumber } = imported.json;
  await measureExport(harness, 'export of uploaded media', {
    path: exportPath({ lessonId, _id: versionId }),
    folder: `${slug}-v${versionNumber}`,
    headers,
  });
});

interface Imported {
  json: { lessonId: string; versionId: string; slug: string; versionNumber: number };
  /** MB. */
  peak: number;
}

/** Runs `lectern … --publish --json` as a process of its own. */
async function importByCommand(harness: Harness, args: string[]): Promise<Imported> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', entryPoint('cli/main'), ...args, '--publish', '--json'],
    { env: childEnvironment(harness.environment), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close') as Promise<[number | null]>;
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  const peak = await peakMegabytesUntil(ended, child.pid ?? 0);
  expect(await ended).toEqual([0, null]);
  return { json: JSON.parse(output) as Imported['json'], peak };
}
