import { execFile } from 'node:child_process';
import { link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProcesses } from '../../cli/installation/processes.ts';
import type { Processes } from '../../cli/installation/processes.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { parseConfig } from '../../shared/platform/config.ts';
import { createS3Store } from '../../shared/storage/s3/s3-store.ts';
import { digestOf, bytesOf } from '../../shared/storage/digest.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import { findDebianProgram } from '../../test/support/debian-programs.ts';
import { exampleConfig, startNginx } from '../../test/support/nginx.ts';
import type { Nginx } from '../../test/support/nginx.ts';
import { environmentOf, startS3Server } from '../../test/support/s3-server.ts';
import { prepareInstallation } from '../installation.ts';
import type { BenchInstallation } from '../installation.ts';
import { median, medianTimes, report } from '../rounds.ts';
import { writeSamplePackage } from '../sample-package.ts';
import { serverCpuSeconds } from './cpu-time.ts';

/*
 * Measures how long sending a stored archive takes, with several numbers of connections: from a folder against nginx,
 * which sends the same file, and from a bucket against the bucket itself. Both also with nginx in front of Lectern,
 * which sends the files that Lectern authorizes. The CPU time is that of all servers, without curl.
 */

const rounds = Number(process.argv[3] ?? 7);
const connections = [1, 32];
/** Downloads per connection. */
const repeats = 4;
const proxied = { TRUST_PROXY: '1', SENDFILE_HEADER: 'X-Accel-Redirect' };
const sample = { files: 64, bytes: 64 * 1024 ** 2 };

const packageFolder = await mkdtemp(join(tmpdir(), 'lectern-samples-'));
await writeSamplePackage(packageFolder, sample);
console.log(`Node ${process.version}, all processes on the same machine, medians of ${rounds} rounds`);
const program = await findDebianProgram('nginx', parseConfig(process.env).cacheDir);
const places = process.argv[4]?.split(',') ?? ['folder', 'bucket'];
if (places.includes('folder')) await fromFolder();
if (places.includes('bucket')) await fromBucket();
await rm(packageFolder, { recursive: true });

async function fromFolder(): Promise<void> {
  const installation = await prepareInstallation(proxied);
  const { folder, config } = installation;
  const { url, version, processes } = await startWithArchive(installation);
  if (program !== null) {
    const { key } = exportJobOf(version);
    const stored = join(config.storeDir, 'v1', 'archives', key.slice(1, 3), key);
    const [name = ''] = await readdir(stored);
    const served = join(folder, 'served');
    await mkdir(served);
    await link(join(stored, name), join(served, 'archive.zip'));
    const plain = await startNginx(program, (port) => {
      return `sendfile on; tcp_nopush on; access_log off; server { listen 127.0.0.1:${port}; root ${served}; }`;
    });
    const proxy = await startNginx(program, (port) =>
      exampleConfig(port, { api: processes.url, storeDir: config.storeDir }),
    );
    await compare('a folder', installation, [
      ["Debian's nginx, the same file (baseline)", `${plain.url}/archive.zip`],
      ['Lectern, one process', url],
      ['nginx in front of Lectern, SENDFILE_HEADER', url.replace(processes.url, proxy.url)],
    ]);
    await plain.stop();
    await proxy.stop();
  }
  await processes.stop();
  await installation.remove();
}

async function fromBucket(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'lectern-bucket-'));
  const server = await startS3Server(parseConfig(process.env).cacheDir, join(home, 's3'));
  const installation = await prepareInstallation({ ...environmentOf(server.settings), ...proxied });
  const { url, processes } = await startWithArchive(installation);
  const bytes = Buffer.from(await (await fetch(url, authorized(installation))).arrayBuffer());
  const store = createS3Store(server.settings, {
    spoolFolder: join(home, 'spool'),
    lastUses: noLastUses,
    partBytes: 8 * 1024 ** 2,
  });
  await store.cache.put(bytesOf(bytes));
  const options = { seconds: 86_400, contentType: 'application/zip', contentDisposition: 'attachment' };
  const presigned = await store.cache.presignedUrl(digestOf(bytes).sha256, options);
  const urls: [string, string][] = [
    ['SeaweedFS, the same bytes (baseline)', presigned ?? ''],
    ['Lectern, one process', url],
  ];
  let proxy: Nginx | null = null;
  if (program !== null) {
    proxy = await startNginx(program, (port) =>
      exampleConfig(port, { api: processes.url, bucket: server.settings.endpoint ?? '' }),
    );
    urls.push(['nginx in front of Lectern, SENDFILE_HEADER', url.replace(processes.url, proxy.url)]);
  }
  await compare('a bucket', installation, urls);
  await proxy?.stop();
  await processes.stop();
  await installation.remove();
  await server.stop();
  await rm(home, { recursive: true });
}

/** Starts an API and a worker, and has them build an archive. */
async function startWithArchive(
  installation: BenchInstallation,
): Promise<{ url: string; version: LessonVersion; processes: Processes }> {
  const { config, servers, settings, publish } = installation;
  const version = await publish(packageFolder);
  const processes = await startProcesses(config, servers, { workers: 1, settings });
  const url = `${processes.url}/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`;
  const response = await fetch(url, authorized(installation));
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
  return { url, version, processes };
}

function authorized({ authorization }: BenchInstallation) {
  return { headers: { authorization } };
}

/** Measures contenders in turns, the baseline first. */
async function compare(
  place: string,
  { authorization }: BenchInstallation,
  urls: [string, string][],
): Promise<void> {
  for (const count of connections) {
    const cpu = new Map<string, number[]>();
    const contenders = urls.map(([name, url], index) => ({
      name,
      prepare: () => Promise.resolve(),
      async run() {
        const before = await serverCpuSeconds();
        await curl(url, index === 0 ? null : authorization, count);
        const after = await serverCpuSeconds();
        if (before !== null && after !== null) cpu.set(name, [...(cpu.get(name) ?? []), after - before]);
      },
    }));
    const title = `Download from ${place} of a stored archive of ${sample.bytes / 1024 ** 2} MiB, ${count} at once`;
    report(title, await medianTimes(contenders, rounds), urls[0]?.[0] ?? '');
    // The first round warms up, as in `medians`.
    const gigabytes = (repeats * count * sample.bytes) / 1e9;
    for (const [name, [, ...seconds]] of cpu) {
      console.log(
        `  ${name.padEnd(58)} ${(median(seconds) / gigabytes).toFixed(2).padStart(6)} s of CPU per GB`,
      );
    }
  }
}

/** Downloads a URL `repeats` times on each connection, and discards the bytes. */
async function curl(url: string, authorization: string | null, connections: number): Promise<void> {
  const targets = Array.from({ length: repeats * connections }, () => ['--output', '/dev/null', url]).flat();
  const parallel = ['--parallel', '--parallel-immediate', '--parallel-max', String(connections)];
  const header = authorization === null ? [] : ['--header', `Authorization: ${authorization}`];
  const options = ['--silent', '--show-error', '--fail', ...header, ...(connections > 1 ? parallel : [])];
  await promisify(execFile)('curl', [...options, ...targets]);
}
