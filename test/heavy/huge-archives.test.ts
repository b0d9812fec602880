import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  statusPath,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectGeneratedMedia } from './archive-check.ts';
import { printFigure } from './figures.ts';
import { sumsOf } from './generated-bytes.ts';
import { peakMegabytes } from './memory.ts';
import { startGeneratedOrigin } from './origin.ts';

const kB = 1024;
const MB = kB * 1024;
const GB = MB * 1024;
const run = promisify(execFile);

/** What a process may hold, however large the archive is. */
const allowedMegabytes = 300;

/** Longer than any of these builds takes. */
const buildMilliseconds = 20 * 60_000;

const medium = { mimeType: 'application/pdf', extension: 'pdf' };

test.each([
  ['more than 65,535 files', Array.from({ length: 66_000 }, () => 96 * kB)],
  ['a file of more than 4 GB', [4.5 * GB, ...Array.from({ length: 1500 }, () => MB)]],
])(
  'an archive of 6 GB with %s is built and sent in constant memory, and read by others',
  async (name, sizes) => {
    const origin = await startGeneratedOrigin();
    const harness = await startHarness({
      LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
      MEDIA_MAX_BYTES: String(5 * GB),
      DOWNLOAD_CONCURRENCY: '16',
      DOWNLOAD_CONCURRENCY_PER_HOST: '16',
    });
    onTestFinished(() => harness.close());
    const { organization, headers } = await buildOrganization(harness);
    const media = sizes.map((size, index) => ({
      ...medium,
      id: randomUUID(),
      sourceUrl: origin.url(index, size),
    }));
    const built = await buildPackage({ media });
    onTestFinished(() => rm(built.path, { recursive: true }));
    const version = await buildVersion(harness, organization, built.path);
    const [api, worker] = await Promise.all([spawnApi(harness), spawnWorker(harness)]);

    const started = performance.now();
    await fetch(api.address + exportPath(version), { headers: { ...headers, prefer: 'respond-async' } });
    await waitFor(
      'the archive',
      async () => {
        const response = await fetch(api.address + statusPath(version), { headers });
        const { status } = (await response.json()) as { status: string };
        expect(status).not.toBe('failed');
        return status === 'ready';
      },
      buildMilliseconds,
    );
    const seconds = (performance.now() - started) / 1000;

    const folder = await mkdtemp(join(tmpdir(), 'lectern-heavy-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const archive = join(folder, 'archive.zip');
    const whole = await fetch(api.address + exportPath(version), { headers });
    if (whole.body === null) throw new Error('No body');
    await pipeline(Readable.fromWeb(whole.body), createWriteStream(archive));
    const { size } = await stat(archive);
    expect(size).toBe(Number(whole.headers.get('content-length')));

    for (const [start, end] of [
      [size - 1, size],
      [size - 70_000, size],
      [4 * GB - 10, 4 * GB + 10],
      [size - 5 * MB, size - 4 * MB],
    ] as const) {
      const range = `bytes=${start}-${end - 1}`;
      const part = await fetch(api.address + exportPath(version), { headers: { ...headers, range } });
      expect([part.status, part.headers.get('content-range')]).toEqual([
        206,
        `bytes ${start}-${end - 1}/${size}`,
      ]);
      expect(Buffer.from(await part.arrayBuffer()).equals(await bytesAt(archive, start, end))).toBe(true);
    }
    const [workerPeak, apiPeak] = [await peakMegabytes(worker.pid), await peakMegabytes(api.pid)];
    printFigure(`archive with ${name}`, {
      MB: size / MB,
      files: sizes.length,
      'seconds to build': seconds,
      'peak MB of the worker': workerPeak,
      'peak MB of the API': apiPeak,
    });

    const wanted = new Map(media.map(({ id }, index) => [id, sumsOf(index, sizes[index] ?? 0)]));
    await expectGeneratedMedia(archive, `${version.slug}-v${version.versionNumber}`, wanted);
    await run('unzip', ['-tqq', archive]);
    const script = 'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None';
    await run('python3', ['-c', script, archive]);
    expect(workerPeak).toBeLessThan(allowedMegabytes);
    expect(apiPeak).toBeLessThan(allowedMegabytes);
  },
);

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
