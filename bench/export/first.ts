import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compile } from '../../esbuild.config.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { startCompiled } from '../../test/support/compiled-process.ts';
import { prepareInstallation } from '../installation.ts';
import { median } from '../rounds.ts';
import { writeSamplePackage } from '../sample-package.ts';
import { curlThenZip } from './baselines.ts';

/*
 * Measures what a small installation sees: the first exports after a worker's start, of 350 files of 64 MiB together from
 * a local origin, to the last byte through the API, as multiples of the time of curl and zip beside each of them.
 *
 * Argument: the number of rounds, each with new processes.
 */

const [roundsText = '5'] = process.argv.slice(3);
await compile();
const exportsPerStart = 5;
const lesson = { files: 350, bytes: 64 * 1024 ** 2 };
const sample = await mkdtemp(join(tmpdir(), 'lectern-sample-'));
await writeSamplePackage(sample, lesson);
const media = join(sample, 'media');
const names = (await readdir(media)).sort();
const origin = fork(join(import.meta.dirname, 'origin.ts'), [media]);
const [{ port }] = (await once(origin, 'message')) as [{ port: number }];
const originUrl = `http://127.0.0.1:${port}`;

const installation = await prepareInstallation({ LECTERN_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}` });
const { folder, settings, config, servers, authorization } = installation;
const { mongodbUri: MONGODB_URI, redisUrl: REDIS_URL } = servers;
// As operators run them.
const environment = { MONGODB_URI, REDIS_URL, ...settings };

async function curlMs(): Promise<number> {
  const output = join(folder, 'output');
  await rm(output, { recursive: true, force: true });
  await mkdir(output);
  const started = performance.now();
  await curlThenZip(originUrl, names, output, ['--parallel-max', '8']);
  return performance.now() - started;
}

/** Each export is of a new lesson, from files that were not downloaded before. */
async function exportMs(baseUrl: string): Promise<number> {
  const version = await installation.publish(sample, originUrl);
  await installation.db.remoteFiles.deleteMany({});
  // The worker may still keep downloads of the export before.
  await rm(join(config.storeDir, 'v1', 'cache'), { recursive: true, force: true, maxRetries: 10 });
  const target = join(folder, 'export.zip');
  const started = performance.now();
  await promisify(execFile)('curl', [
    ...['--silent', '--fail', '--header', `Authorization: ${authorization}`, '--output', target],
    `${baseUrl}/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`,
  ]);
  const ms = performance.now() - started;
  const { size } = await stat(target);
  if (size < lesson.bytes) throw new Error(`the archive has ${size} bytes`);
  return ms;
}

const ratios = Array.from({ length: exportsPerStart }, (): number[] => []);
for (let round = 0; round < Number(roundsText); round += 1) {
  const processes = await Promise.all(
    ['api/main', 'worker/main'].map((entry) => startCompiled(entry, environment, packageRoot)),
  );
  const url = `http://127.0.0.1:${processes[0]?.ports.port}`;
  for (const ofExport of ratios) {
    const baseline = await curlMs();
    const ms = await exportMs(url);
    ofExport.push(ms / baseline);
    console.log(`  ${ms.toFixed(0)} ms, curl and zip ${baseline.toFixed(0)} ms`);
  }
  for (const { signal } of processes) signal('SIGTERM');
  await Promise.all(processes.map(({ ended }) => ended));
}
console.log(`\nExports after a worker's start, against curl --parallel-max 8 and zip -0: medians and ranges`);
for (const [index, list] of ratios.entries()) {
  const range = `${Math.min(...list).toFixed(2)} to ${Math.max(...list).toFixed(2)}`;
  console.log(`  export ${index + 1}: ${median(list).toFixed(2)} (${range})`);
}
origin.disconnect();
await installation.remove();
await rm(sample, { recursive: true });
