import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProcesses } from '../../cli/installation/processes.ts';
import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { connectOptionalRedis } from '../../shared/platform/redis.ts';
import { createCoordination } from '../../shared/coordination/coordination.ts';
import { runExport } from '../../worker/exports/job.ts';
import { prepareInstallation } from '../installation.ts';
import { medianTimes, report } from '../rounds.ts';
import { writeSamplePackage } from '../sample-package.ts';
import { archiverStored, curlThenZip, plainLoop, zipStored } from './baselines.ts';

/*
 * Measures the cost of exports against simple tools: a cold export (350 files, 64 MiB, from an origin on loopback)
 * against curl and zip, and a build from stored files against zip.
 */

const rounds = Number(process.argv[3] ?? 9);
const lesson = { files: 350, bytes: 64 * 1024 ** 2 };
const sample = await mkdtemp(join(tmpdir(), 'lectern-sample-'));
await writeSamplePackage(sample, lesson);
const media = join(sample, 'media');
const names = (await readdir(media)).sort();

const origin = fork(join(import.meta.dirname, 'origin.ts'), [media]);
const [{ port }] = (await once(origin, 'message')) as [{ port: number }];
const originUrl = `http://127.0.0.1:${port}`;

const installation = await prepareInstallation({ LECTERN_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}` });
const { folder, settings, config, servers, db, store, authorization, publish } = installation;
const downloader = createDownloader(config.download);
const redis = await connectOptionalRedis(servers.redisUrl);
const coordination = createCoordination(redis, config);
const processes = await startProcesses(config, servers, { workers: 1, settings });
const { address } = processes;
const external = await publish(sample, originUrl);
const uploaded = await publish(sample);

const output = join(folder, 'output');
const emptyOutput = async () => {
  await rm(output, { recursive: true, force: true });
  await mkdir(output);
};
const forgetArchives = () => rm(join(config.storeDir, 'v1', 'archives'), { recursive: true, force: true });
const forgetDownloads = async () => {
  await forgetArchives();
  await rm(join(config.storeDir, 'v1', 'cache'), { recursive: true, force: true });
  await db.remoteFiles.deleteMany({});
};
const build = async (version: LessonVersion) => {
  const { failures } = await runExport(
    { db, store, downloader, coordination, config },
    exportJobOf(version),
    {
      signal: new AbortController().signal,
      onProgress: () => undefined,
    },
  );
  if (failures > 0) throw new Error(`${failures} files failed`);
};
const request = async (version: LessonVersion) => {
  const target = join(folder, 'export.zip');
  const url = `${address}/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`;
  const credentials = `Authorization: ${authorization}`;
  await promisify(execFile)('curl', ['--silent', '--fail', '--header', credentials, '--output', target, url]);
  const { size } = await stat(target);
  if (size < lesson.bytes) throw new Error(`the archive has ${size} bytes`);
};

console.log(
  `${lesson.files} files, ${lesson.bytes / 1024 ** 2} MiB, Node ${process.version}, medians of ${rounds} rounds`,
);

const curlAndZip = 'curl --parallel --parallel-max 8, then zip -0 (baseline)';
report(
  'Cold export, from an origin on loopback',
  await medianTimes(
    [
      { name: curlAndZip, prepare: emptyOutput, run: () => curlThenZip(originUrl, names, output) },
      { name: 'Lectern, built in one process', prepare: forgetDownloads, run: () => build(external) },
      {
        name: 'Lectern, API + queue + worker, to the last byte',
        prepare: forgetDownloads,
        run: () => request(external),
      },
    ],
    rounds,
  ),
  curlAndZip,
);

const zip = 'zip -0 (baseline; no SHA-256, no sync)';
report(
  'Build from stored files',
  await medianTimes(
    [
      { name: zip, prepare: emptyOutput, run: () => zipStored(media, join(output, 'zip.zip')) },
      { name: 'Lectern', prepare: forgetArchives, run: () => build(uploaded) },
      {
        name: 'plainest loop: read, CRC-32, SHA-256, write, sync',
        prepare: emptyOutput,
        run: () => plainLoop(media, join(output, 'loop')),
      },
      {
        name: 'archiver 8, store mode (no SHA-256, no sync)',
        prepare: emptyOutput,
        run: () => archiverStored(media, join(output, 'archiver.zip')),
      },
    ],
    rounds,
  ),
  zip,
);

await processes.stop();
downloader.close();
redis.disconnect();
origin.disconnect();
await installation.remove();
await rm(sample, { recursive: true });
