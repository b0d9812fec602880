import { execFile, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import yauzl from 'yauzl';
import { childEnvironment } from '../../shared/platform/config.ts';
import { entryPoint } from '../../shared/platform/paths.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  statusPath,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { generateBytes, sumsOf } from './generated-bytes.ts';
import type { Sums } from './generated-bytes.ts';
import { peakMegabytes, peakMegabytesUntil, printFigure } from './measure.ts';
import { startGeneratedOrigin } from './origin.ts';
import { temporaryFolder } from '../support/folders.ts';

const kB = 1024;
const MB = kB * 1024;
const GB = MB * 1024;
const run = promisify(execFile);

/** The memory limit of a process for archives of any size. */
const allowedMegabytes = 300;

/** Longer than any of these builds takes. */
const buildTimeoutMs = 20 * 60_000;

const medium = { mimeType: 'application/pdf', extension: 'pdf' };

/** Media of a lesson, as generated files. */
interface GeneratedMedia {
  ids: string[];
  sizes: number[];
}

const mediaOf = (sizes: number[]): GeneratedMedia => ({ ids: sizes.map(() => randomUUID()), sizes });

/** 1,000 media with 2 GB in all: most as large as pictures, some as videos. */
const thousandMedia = () =>
  mediaOf(Array.from({ length: 1000 }, (_, index) => (index % 100 === 0 ? 100 * MB : MB)));

/** An exported version, and its folder in the archive; '' for none. */
interface Exported {
  version: { lessonId: string; _id: string };
  folder: string;
  /** Such as '?format=scorm12'. */
  query?: string;
  headers: Record<string, string>;
}

async function publishExternal(
  { ids, sizes }: GeneratedMedia,
  settings: Record<string, string> = {},
): Promise<Exported & { harness: Harness }> {
  const origin = await startGeneratedOrigin();
  const harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host, ...settings });
  onTestFinished(() => harness.close());
  const { organization, headers } = await buildOrganization(harness);
  const media = ids.map((id, index) => ({ ...medium, id, sourceUrl: origin.url(index, sizes[index] ?? 0) }));
  const built = await buildPackage({ media, blocks: linkAll });
  onTestFinished(() => rm(built.path, { recursive: true }));
  const version = await buildVersion(harness, organization, built.path);
  return { harness, version, folder: `${version.slug}-v${version.versionNumber}`, headers };
}

/** Makes texts with 100 links each: the largest lesson here has more media than a lesson may have blocks. */
function linkAll(mediaIds: string[]): unknown[] {
  return Array.from({ length: Math.ceil(mediaIds.length / 100) }, (_, index) => {
    const linked = mediaIds.slice(index * 100, (index + 1) * 100);
    const text = linked.map((id) => `<a href="media:${id}">A document</a>`).join(' ');
    return { type: 'Text', props: { id: `Text-${index + 1}`, text: `<p>${text}</p>` } };
  });
}

/** Exports a version, first built and then stored, checks both archives, and prints the figures. */
async function measureExport(
  harness: Harness,
  name: string,
  { version, folder, headers, query = '' }: Exported,
  { ids, sizes }: GeneratedMedia,
): Promise<{ archive: string; url: string }> {
  const [api, worker] = await Promise.all([spawnApi(harness), spawnWorker(harness)]);
  const url = api.address + exportPath(version) + query;
  const target = await temporaryFolder();
  const [archive, again] = [join(target, 'archive.zip'), join(target, 'again.zip')];
  const started = performance.now();
  await fetch(url, { headers: { ...headers, prefer: 'respond-async' } });
  const isReady = async () => {
    const response = await fetch(api.address + statusPath(version) + query, { headers });
    const { status } = (await response.json()) as { status: string };
    expect(status).not.toBe('failed');
    return status === 'ready';
  };
  await waitFor('the archive', isReady, buildTimeoutMs);
  const buildSeconds = (performance.now() - started) / 1000;
  const sendSeconds = await download(url, headers, archive);
  await download(url, headers, again);
  const [workerPeak, apiPeak] = [await peakMegabytes(worker.pid), await peakMegabytes(api.pid)];
  const totalMegabytes = sizes.reduce((sum, size) => sum + size, 0) / MB;
  printFigure(name, {
    MB: totalMegabytes,
    files: sizes.length,
    'seconds to build': buildSeconds,
    'MB/s built': totalMegabytes / buildSeconds,
    'MB/s served': totalMegabytes / sendSeconds,
    'peak MB of the worker': workerPeak,
    'peak MB of the API': apiPeak,
  });
  const wanted = new Map(ids.map((id, index) => [id, sumsOf(index, sizes[index] ?? 0)]));
  await expectGeneratedMedia(archive, folder, wanted);
  await run('cmp', [archive, again]);
  // Readers that this project does not use.
  await run('unzip', ['-tqq', archive]);
  const script = 'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None';
  await run('python3', ['-c', script, archive]);
  expect(workerPeak).toBeLessThan(allowedMegabytes);
  expect(apiPeak).toBeLessThan(allowedMegabytes);
  return { archive, url };
}

/** Downloads an archive to a file; returns the seconds that it took. */
async function download(url: string, headers: Record<string, string>, path: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(url, { headers });
  expect(response.status).toBe(200);
  if (response.body === null) throw new Error('No body');
  await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
  expect((await stat(path)).size).toBe(Number(response.headers.get('content-length')));
  return (performance.now() - started) / 1000;
}

/** Asserts that an archive has exactly these generated media, as its manifest says. */
async function expectGeneratedMedia(path: string, folder: string, wanted: Map<string, Sums>): Promise<void> {
  const entries = new Map<string, Sums>();
  const pathOf = (local: string) => (folder === '' ? local : `${folder}/${local}`);
  let manifestJson = '';
  const zip = await yauzl.openPromise(path);
  for await (const entry of zip.eachEntry()) {
    const hash = createHash('sha256');
    let [size, checksum] = [0, 0];
    for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      hash.update(piece);
      checksum = crc32(piece, checksum);
      size += piece.length;
      if (entry.fileName === pathOf('manifest.json')) manifestJson += piece.toString();
    }
    expect(checksum, `the CRC-32 of ${entry.fileName}`).toBe(entry.crc32);
    entries.set(entry.fileName, { size, sha256: hash.digest('hex'), crc32: checksum });
  }
  const { files, failedMedia } = JSON.parse(manifestJson) as {
    files: { media: { id: string; localPath: string; size: number; sha256: string }[] };
    failedMedia: unknown[];
  };
  expect(failedMedia).toEqual([]);
  expect(files.media).toHaveLength(wanted.size);
  for (const { id, localPath, size, sha256 } of files.media) {
    const sums = wanted.get(id);
    expect({ size, sha256 }, id).toEqual({ size: sums?.size, sha256: sums?.sha256 });
    expect(entries.get(pathOf(localPath.replace('./', ''))), localPath).toEqual(sums);
  }
}

test('a package for learning platforms with 500 MB of media is built in constant memory', async () => {
  const media = mediaOf(Array.from({ length: 500 }, () => MB));
  const { harness, ...exported } = await publishExternal(media);
  const packaged = { ...exported, folder: '', query: '?format=scorm2004' };
  await measureExport(harness, 'SCORM 2004 package', packaged, media);
});

test('a package of 1,000 media and 2 GB is imported and exported completely, in constant memory', async () => {
  const media = thousandMedia();
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { organization, headers } = await buildOrganization(harness);
  const { path } = await buildPackage({ media: media.ids.map((id) => ({ ...medium, id })) });
  onTestFinished(() => rm(path, { recursive: true }));
  await mkdir(join(path, 'media'));
  for (const [index, size] of media.sizes.entries()) {
    await writeFile(join(path, 'media', `${media.ids[index]}.pdf`), generateBytes(index, size));
  }

  const started = performance.now();
  const imported = await importByCommand(harness, ['lesson', 'import', path, '--org', organization.slug]);
  const seconds = (performance.now() - started) / 1000;
  printFigure('import of a folder', { seconds, 'peak MB of the command': imported.peak });
  expect(imported.peak).toBeLessThan(allowedMegabytes);

  const { lessonId, versionId, slug, versionNumber } = imported.json;
  const exported = { version: { lessonId, _id: versionId }, folder: `${slug}-v${versionNumber}`, headers };
  await measureExport(harness, 'export of uploaded media', exported, media);
});

interface Imported {
  json: { lessonId: string; versionId: string; slug: string; versionNumber: number };
  /** MB. */
  peak: number;
}

/** Runs `lectern … --publish --json` as a separate process. */
async function importByCommand(harness: Harness, args: string[]): Promise<Imported> {
  const child = spawn(process.execPath, [entryPoint('cli/main'), ...args, '--publish', '--json'], {
    env: childEnvironment(harness.environment),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close') as Promise<[number | null]>;
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  const peak = await peakMegabytesUntil(ended, child.pid ?? 0);
  expect(await ended).toEqual([0, null]);
  return { json: JSON.parse(output) as Imported['json'], peak };
}

test.each([
  ['more than 65,535 files', Array.from({ length: 66_000 }, () => 96 * kB)],
  ['a file of more than 4 GB', [4.5 * GB, ...Array.from({ length: 1500 }, () => MB)]],
])('an archive of 6 GB with %s is built and sent in constant memory, also in ranges', async (name, sizes) => {
  const media = mediaOf(sizes);
  const { harness, ...exported } = await publishExternal(media, {
    MEDIA_MAX_BYTES: String(5 * GB),
    DOWNLOAD_CONCURRENCY: '16',
    DOWNLOAD_CONCURRENCY_PER_HOST: '16',
  });
  const { archive, url } = await measureExport(harness, `archive with ${name}`, exported, media);
  const { size } = await stat(archive);
  for (const [start, end] of [
    [size - 1, size],
    [size - 70_000, size],
    [4 * GB - 10, 4 * GB + 10],
    [size - 5 * MB, size - 4 * MB],
  ] as const) {
    const range = `bytes=${start}-${end - 1}`;
    const part = await fetch(url, { headers: { ...exported.headers, range } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${size}`);
    expect(Buffer.from(await part.arrayBuffer()).equals(await bytesAt(archive, start, end))).toBe(true);
  }
});

async function bytesAt(path: string, start: number, end: number): Promise<Buffer> {
  const handle = await open(path);
  try {
    const bytes = Buffer.alloc(end - start);
    await handle.read(bytes, 0, bytes.length, start);
    return bytes;
  } finally {
    await handle.close();
  }
}
