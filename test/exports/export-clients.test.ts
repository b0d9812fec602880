import { existsSync } from 'node:fs';
import { readdir, readlink, truncate } from 'node:fs/promises';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { exportPath } from '../support/factories.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useExportLab } from './lab.ts';
import { openQueue } from './open-queue.ts';

const lab = useExportLab();

/** More than socket buffers grow to on Linux (33 MB), so a client that stops reading blocks the server. */
const archiveBytes = 48 * 1024 ** 2;

/** A version whose archive is in the store. */
const stored = useStarted(
  async () => {
    const version = await lab.build(Buffer.alloc(archiveBytes, 'picture'));
    const endWorker = await lab.harness.startWorker();
    expect((await lab.get(version)).status).toBe(200);
    await endWorker();
    return version;
  },
  () => Promise.resolve(),
);

/** Requests an archive and returns the response without reading its body. */
function startDownload(version: LessonVersion): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(lab.api + exportPath(version), { headers: lab.headers }, resolve).on('error', reject);
  });
}

/** Returns the archives that this process, which runs the API, has open. */
async function openArchives(): Promise<string[]> {
  const folder = '/proc/self/fd';
  const targets = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')),
  );
  const archives = join(lab.harness.config.storeDir, 'v1', 'archives');
  return targets.filter((target) => target.startsWith(archives));
}

describe.runIf(existsSync('/proc/self/fd'))('no archive stays open', () => {
  const allClosed = () =>
    waitFor('the archives to be closed', async () => (await openArchives()).length === 0);

  test('after it was sent', async () => {
    const response = await startDownload(stored);
    expect(await openArchives()).toHaveLength(1);
    let received = 0;
    for await (const chunk of response) received += (chunk as Buffer).length;
    expect(received).toBe(Number(response.headers['content-length']));
    await allClosed();
  });

  test('when clients disconnect in mid-download', async () => {
    const downloads = await Promise.all(Array.from({ length: 20 }, () => startDownload(stored)));
    await Promise.all(
      downloads.map((download) => new Promise((resolve) => download.once('readable', resolve))),
    );
    expect(await openArchives()).toHaveLength(20);
    for (const download of downloads) download.destroy();
    await allClosed();
  });

  test('when clients disconnect before their response, at any step of the server', async () => {
    for (let turns = 0; turns < 100; turns += 1) {
      const request = get(lab.api + exportPath(stored), { headers: lab.headers });
      request.on('error', () => undefined).on('response', (response) => response.resume());
      await new Promise((resolve) => request.once('finish', resolve));
      // Each client disconnects a little later.
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      request.destroy();
    }
    await lab.get(stored);
    await allClosed();
  });

  test('after HEAD and rejected requests', async () => {
    for (const method of ['HEAD', 'POST', 'DELETE']) await lab.get(stored, { method });
    await allClosed();
  });
});

test('a job continues after its client disconnects', async () => {
  const version = await lab.build();
  const queue = await openQueue(lab.harness);
  onTestFinished(() => queue.close());
  const leaving = new AbortController();
  const left = expect(lab.get(version, { signal: leaving.signal })).rejects.toThrow(/abort/);
  await waitFor('its job', async () => (await queue.state(version)) === 'prioritized');
  leaving.abort();
  await left;
  onTestFinished(await lab.harness.startWorker());
  await waitFor('the archive', async () => (await lab.statusOf(version)).status === 'ready');
});

test('an archive truncated on disk breaks the connection: the client sees an error and does not wait', async () => {
  const response = await startDownload(stored);
  const root = lab.harness.config.storeDir;
  const { key } = exportJobOf(stored);
  const path = (await readdir(root, { recursive: true })).find(
    (name) => name.includes(key) && name.endsWith('.zip'),
  );
  await truncate(join(root, path ?? ''), archiveBytes * 0.75);
  const readAll = async () => {
    for await (const chunk of response) void chunk;
  };
  await expect(readAll()).rejects.toThrow('aborted');
  expect(response.complete).toBe(false);
});
