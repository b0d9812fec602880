import { createHash, randomBytes } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask } from '../support/answers.ts';
import type { AskOptions } from '../support/answers.ts';
import { storeAsset } from './assets.ts';
import { canCountFiles, openFiles } from '../http/open-files.ts';

/** More than any socket buffers: whoever stops reading stops the server. */
const large = 40 * 1024 ** 2;

let harness: Harness;
let api: string;
let assetFolder: string;
let address: string;
let sha256: string;

beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  assetFolder = join(harness.config.storeDir, 'v1', 'assets');
  const stored = await storeAsset(harness, randomBytes(large));
  address = api + stored.path;
  sha256 = stored.sha256;
});
afterAll(() => harness.close());

/** Asks for a file and gives the answer with nothing of its body read. */
function startDownload(headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(address, { headers }, resolve).on('error', reject);
  });
}

const noneOpen = async () => (await openFiles(assetFolder)).length === 0;

test.runIf(canCountFiles)('a file is open while it is sent, and closed at the end', async () => {
  const response = await startDownload({ range: `bytes=1-${large - 1}` });
  expect(await openFiles(assetFolder)).toHaveLength(1);
  let received = 0;
  for await (const chunk of response) received += (chunk as Buffer).length;
  expect(received).toBe(large - 1);
  await waitFor('the file to be closed', noneOpen);
});

test('each of several clients that read by fits and starts gets the very bytes of its file', async () => {
  const other = await storeAsset(harness, randomBytes(large));
  const files = [
    { url: address, sha256 },
    { url: api + other.path, sha256: other.sha256 },
  ];
  const downloads = Array.from({ length: 4 }, (_, index) => files[index % 2] ?? { url: '', sha256: '' });
  const received = await Promise.all(
    downloads.map(async ({ url }) => {
      const hash = createHash('sha256');
      const response = await fetch(url);
      for await (const chunk of response.body ?? []) {
        hash.update(chunk as Uint8Array);
        await setImmediate();
      }
      return hash.digest('hex');
    }),
  );
  expect(received).toEqual(downloads.map((file) => file.sha256));
});

test.runIf(canCountFiles)('no client that goes away in mid-download leaves a file open', async () => {
  const downloads = await Promise.all(Array.from({ length: 20 }, () => startDownload()));
  await Promise.all(
    downloads.map((download) => new Promise((resolve) => download.once('readable', resolve))),
  );
  expect(await openFiles(assetFolder)).toHaveLength(20);
  for (const download of downloads) download.destroy();
  await waitFor('the files to be closed', noneOpen);
});

test.runIf(canCountFiles)('no client that goes away before its answer leaves a file open', async () => {
  for (let turns = 0; turns < 100; turns += 1) {
    const request = get(address);
    request.on('error', () => undefined).on('response', (response) => response.resume());
    await new Promise((resolve) => request.once('finish', resolve));
    // A little later each time, so that every step of the server meets a client that is gone.
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    request.destroy();
  }
  await waitFor('the files to be closed', noneOpen);
});

test.runIf(canCountFiles)('answers without a body leave no file open', async () => {
  const requests: AskOptions[] = [
    { method: 'HEAD' },
    { headers: { 'if-none-match': `"${sha256}"` } },
    { headers: { range: `bytes=${large}-` } },
    { method: 'OPTIONS' },
    { method: 'POST' },
  ];
  const answers = requests.map(async (options) => (await ask(address, options)).status);
  expect(await Promise.all(answers)).toEqual([200, 304, 416, 204, 405]);
  await waitFor('the files to be closed', noneOpen);
});

test('a file that the disk cuts short ends the connection: no client takes it for whole, or waits', async () => {
  const response = await startDownload();
  await truncate(join(assetFolder, sha256.slice(0, 2), sha256), large / 2);
  const readAll = async () => {
    for await (const chunk of response) void chunk;
  };
  await expect(readAll()).rejects.toThrow('aborted');
  expect(response.complete).toBe(false);
});
