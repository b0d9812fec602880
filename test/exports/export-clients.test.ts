import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readlink, truncate } from 'node:fs/promises';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask } from '../support/answers.ts';
import { openQueue } from './open-queue.ts';

/** More than any socket buffers, so a client that stops reading blocks the server. */
const large = 40 * 1024 ** 2;

let harness: Harness;
let address: string;
let tenant: Awaited<ReturnType<typeof buildOrganization>>;

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  tenant = await buildOrganization(harness);
});
afterAll(() => harness.close());

async function build(size: number): Promise<LessonVersion> {
  const { path } = await buildPackage({ media: [{ bytes: randomBytes(size) }] });
  return buildVersion(harness, tenant.organization, path);
}

/** Creates a version whose archive is in the store. */
async function buildStored(size: number): Promise<LessonVersion> {
  const version = await build(size);
  const endWorker = await harness.startWorker();
  expect((await ask(address + exportPath(version), { headers: tenant.headers })).status).toBe(200);
  await endWorker();
  return version;
}

/** Requests an archive and returns the response without reading its body. */
function startDownload(version: LessonVersion): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(address + exportPath(version), { headers: tenant.headers }, resolve).on('error', reject);
  });
}

/** Returns the archives that this process, which runs the API, has open. */
async function openArchives(): Promise<string[]> {
  const folder = '/proc/self/fd';
  const targets = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(join(harness.config.storeDir, 'v1', 'archives')));
}

const canCountFiles = existsSync('/proc/self/fd');

test.runIf(canCountFiles)('an archive is open while it is sent, and closed at the end', async () => {
  const version = await buildStored(large);
  const response = await startDownload(version);
  expect(await openArchives()).toHaveLength(1);
  let received = 0;
  for await (const chunk of response) received += (chunk as Buffer).length;
  expect(received).toBe(Number(response.headers['content-length']));
  await waitFor('the archive to be closed', async () => (await openArchives()).length === 0);
});

test.runIf(canCountFiles)('a client that disconnects in mid-download leaves no archive open', async () => {
  const version = await buildStored(large);
  const downloads = await Promise.all(Array.from({ length: 20 }, () => startDownload(version)));
  await Promise.all(
    downloads.map((download) => new Promise((resolve) => download.once('readable', resolve))),
  );
  expect(await openArchives()).toHaveLength(20);
  for (const download of downloads) download.destroy();
  await waitFor('the archives to be closed', async () => (await openArchives()).length === 0);
});

test.runIf(canCountFiles)(
  'a client that disconnects before its response leaves no archive open',
  async () => {
    const version = await buildStored(1000);
    for (let turns = 0; turns < 100; turns += 1) {
      const request = get(address + exportPath(version), { headers: tenant.headers });
      request.on('error', () => undefined).on('response', (response) => response.resume());
      await new Promise((resolve) => request.once('finish', resolve));
      // Each client disconnects a little later, so that every step of the server meets a disconnected
      // client.
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      request.destroy();
    }
    await ask(address + exportPath(version), { headers: tenant.headers });
    await waitFor('the archives to be closed', async () => (await openArchives()).length === 0);
  },
);

test.runIf(canCountFiles)('HEAD and rejected requests leave no archive open', async () => {
  const version = await buildStored(1000);
  for (const method of ['HEAD', 'POST', 'DELETE'])
    await ask(address + exportPath(version), { method, headers: tenant.headers });
  await waitFor('the archives to be closed', async () => (await openArchives()).length === 0);
});

test('a job continues after its client disconnects', async () => {
  const version = await build(1000);
  const queue = await openQueue(harness);
  const leaving = new AbortController();
  const asking = ask(address + exportPath(version), { headers: tenant.headers, signal: leaving.signal });
  await waitFor('its job', async () => (await queue.jobs.getPrioritizedCount()) === 1);
  leaving.abort();
  await expect(asking).rejects.toThrow(/abort/);
  await queue.close();

  const endWorker = await harness.startWorker();
  await waitFor('the archive', async () => {
    const archive = await harness.store.archives.open(exportJobOf(version).key);
    await archive?.close();
    return archive !== null;
  });
  await endWorker();
});

test('an archive truncated on disk breaks the connection: the client sees an error and does not wait', async () => {
  const version = await buildStored(large);
  const response = await startDownload(version);
  const root = harness.config.storeDir;
  const { key } = exportJobOf(version);
  const path = (await readdir(root, { recursive: true })).find(
    (name) => name.includes(key) && name.endsWith('.zip'),
  );
  await truncate(join(root, path ?? ''), large / 2);
  const readAll = async () => {
    for await (const chunk of response) void chunk;
  };
  await expect(readAll()).rejects.toThrow('aborted');
  expect(response.complete).toBe(false);
});
