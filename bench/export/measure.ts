import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProcesses } from '../../cli/installation/processes.ts';
import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { selectProfile } from '../../shared/exports/profiles.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { connectOptionalRedis } from '../../shared/platform/redis.ts';
import { IncompleteBuilds } from '../../shared/exports/incomplete-builds.ts';
import { buildIfMissing } from '../../worker/exports/build-if-missing.ts';
import { prepareInstallation } from '../installation.ts';
import { medians, medianTimes, report, timed } from '../rounds.ts';
import type { Measurement } from '../rounds.ts';
import { writeSamplePackage } from '../sample-package.ts';
import { archiverStored, curlThenZip, plainLoop, zipStored } from './baselines.ts';

/*
 * Measures the cost of exports against simple tools, with 350 files of 64 MiB together: cold exports from three kinds of
 * origin against curl and zip, a build from stored files against zip, and packages for learning platforms against the
 * plain format.
 *
 * Arguments: the folder of the origin's certificate, the number of rounds, and the only part to measure, if any.
 */

const [certificate = '', roundsText = '9', onlyPart] = process.argv.slice(2);
const rounds = Number(roundsText);
const lesson = { files: 350, bytes: 64 * 1024 ** 2 };
const sample = await mkdtemp(join(tmpdir(), 'lectern-sample-'));
await writeSamplePackage(sample, lesson);
const media = join(sample, 'media');
const names = (await readdir(media)).sort();

const oneProcess = 'Lectern, built in one process';
const apiPath = 'Lectern, API + queue + worker';

/** The latency of a distant origin. */
const latencyMs = 40;

/** curl as a baseline: its name in the figures, and its options. */
interface Curl {
  name: string;
  options: string[];
}
const eight: Curl = { name: 'curl --parallel-max 8, then zip -0', options: ['--parallel-max', '8'] };
const multiplexed = (options: string[]): Curl => ({
  name: ['curl --http2', ...options, 'then zip -0'].join(' '),
  options: ['--http2', '--cacert', join(certificate, 'cert.pem'), ...options],
});

interface Scenario {
  /** Its name as an argument. */
  part: string;
  title: string;
  scheme: 'http' | 'https';
  /** Arguments of the origin after the folder. */
  origin: string[];
  /** The first is the baseline. */
  curls: Curl[];
}
const allScenarios: Scenario[] = [
  { part: 'loopback', title: 'an origin on loopback', scheme: 'http', origin: [], curls: [eight] },
  {
    part: 'latency',
    title: `an origin with ${latencyMs} ms latency`,
    scheme: 'http',
    origin: [`${latencyMs}`],
    curls: [eight],
  },
  {
    part: 'http2',
    title: `an HTTP/2 origin with TLS and ${latencyMs} ms latency`,
    scheme: 'https',
    origin: [`${latencyMs}`, certificate],
    curls: [multiplexed(['--parallel-max', '8']), multiplexed([])],
  },
];
const scenarios = allScenarios.filter(({ part }) => onlyPart === undefined || onlyPart === part);

const origins = await Promise.all(
  scenarios.map(async ({ scheme, origin }) => {
    const child = fork(join(import.meta.dirname, 'origin.ts'), [media, ...origin]);
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return { child, host: `127.0.0.1:${port}`, url: `${scheme}://127.0.0.1:${port}` };
  }),
);

const installation = await prepareInstallation({
  LECTERN_ALLOWED_PRIVATE_HOSTS: origins.map(({ host }) => host).join(','),
});
const { folder, settings, config, servers, db, store, authorization, publish } = installation;
const downloader = createDownloader(config.download);
const redis = await connectOptionalRedis(servers.redisUrl, console.error);
const incomplete = new IncompleteBuilds(redis, config.redisPrefix);
const processes = await startProcesses(config, servers, { workers: 1, settings });
const { url: baseUrl } = processes;

const output = join(folder, 'output');
const emptyOutput = async () => {
  await rm(output, { recursive: true, force: true });
  await mkdir(output);
};
const forgetArchives = () => rm(join(config.storeDir, 'v1', 'archives'), { recursive: true, force: true });
const forgetDownloads = async () => {
  await forgetArchives();
  // The folders stay, as in any installation that has downloaded files before.
  const evictable = new Date(Date.now() + 3_600_000);
  for await (const page of store.copies.list())
    for (const copy of page) await store.copies.evict(copy, evictable);
  await Promise.all([db.remoteFiles.deleteMany({}), db.exportRecords.deleteMany({})]);
};
const build = async (version: LessonVersion, profile?: string) => {
  const { failures } = await buildIfMissing(
    { db, store, downloader, incomplete, config },
    exportJobOf(version, profile),
    {
      signal: new AbortController().signal,
      onProgress: () => undefined,
    },
  );
  if (failures > 0) throw new Error(`${failures} files failed`);
};
/** The two measurements of one request: the time to its first byte, and to its last. */
const throughApi = (version: LessonVersion): [Measurement, Measurement] => {
  let lastByteMs = NaN;
  return [
    {
      name: `${apiPath}, until the archive is ready`,
      async measure() {
        await forgetDownloads();
        const times = await request(version);
        ({ lastByteMs } = times);
        return times.firstByteMs;
      },
    },
    { name: `${apiPath}, until the last byte`, measure: () => Promise.resolve(lastByteMs) },
  ];
};
const request = async (version: LessonVersion) => {
  const target = join(folder, 'export.zip');
  const url = `${baseUrl}/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`;
  const { stdout } = await promisify(execFile)('curl', [
    ...['--silent', '--fail', '--write-out', '%{time_starttransfer} %{time_total}'],
    ...['--header', `Authorization: ${authorization}`, '--output', target, url],
  ]);
  const { size } = await stat(target);
  if (size < lesson.bytes) throw new Error(`the archive has ${size} bytes`);
  const [firstByteMs = NaN, lastByteMs = NaN] = stdout.split(' ').map((seconds) => Number(seconds) * 1000);
  return { firstByteMs, lastByteMs };
};

console.log(
  `${lesson.files} files, ${lesson.bytes / 1024 ** 2} MiB, Node ${process.version}, medians of ${rounds} rounds`,
);

for (const [index, { title, curls }] of scenarios.entries()) {
  const origin = origins[index]?.url ?? '';
  const version = await publish(sample, origin);
  const [baseline] = curls;
  report(
    `Cold export, from ${title}`,
    await medians(
      [
        ...curls.map(({ name, options }) =>
          timed({ name, prepare: emptyOutput, run: () => curlThenZip(origin, names, output, options) }),
        ),
        timed({ name: oneProcess, prepare: forgetDownloads, run: () => build(version) }),
        ...throughApi(version),
      ],
      rounds,
    ),
    baseline?.name ?? '',
    oneProcess,
  );
}

if (onlyPart === undefined || onlyPart === 'stored') await measureStored();

if (onlyPart === undefined || onlyPart === 'packages') await measurePackages();

async function measurePackages(): Promise<void> {
  const uploaded = await publish(sample);
  const source = {
    playerName: async () => (await playerRelease()).name,
    publicUrl: () => 'https://lessons.example',
  };
  const formats = ['plain', 'scorm12', 'scorm2004', 'cmi5', 'cartridge'];
  const contenders = formats.map(async (format) => {
    const profile = await selectProfile(format === 'plain' ? {} : { format }, source);
    return { name: format, prepare: forgetArchives, run: () => build(uploaded, profile) };
  });
  const times = await medianTimes(await Promise.all(contenders), rounds);
  report('Build of packages for learning platforms from stored files', times, 'plain');
}

async function measureStored(): Promise<void> {
  const uploaded = await publish(sample);
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
}

await processes.stop();
downloader.close();
redis.disconnect();
for (const { child } of origins) child.disconnect();
await installation.remove();
await rm(sample, { recursive: true });
