import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DownloadError } from '../../../shared/media/downloads/failure.ts';
import type { DownloadedFile } from '../../../shared/models/remote-file.ts';
import { connectOptionalRedis } from '../../../shared/platform/redis.ts';
import { createDownloadLeases } from '../../../shared/media/downloads/leases.ts';
import type { DownloadLeases } from '../../../shared/media/downloads/leases.ts';
import { BestEffortRedis } from '../../../shared/platform/best-effort-redis.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';
import { waitFor } from '../../support/wait-for.ts';

const mimeType = 'image/png';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

/** Two processes, each with a connection of its own. */
let connections: Redis[];
let one: DownloadLeases;
let other: DownloadLeases;
let url: string;
let count = 0;
beforeEach(async () => {
  count += 1;
  url = `http://127.0.0.1/${count}.png`;
  connections = [];
  [one, other] = [await join(), await join()];
});
afterEach(() => {
  for (const connection of connections) connection.disconnect();
});

async function join(leaseMilliseconds?: number): Promise<DownloadLeases> {
  const connection = await connectOptionalRedis(harness.servers.redisUrl);
  connections.push(connection);
  return createDownloadLeases(new BestEffortRedis(connection, harness.config.redisPrefix), leaseMilliseconds);
}

function downloaded(size = 1): DownloadedFile {
  const file = { sha256: 'a'.repeat(64), crc32: 1, size };
  return { url, file, declaredType: mimeType, mimeType, etag: '"1"', lastModified: null };
}

async function wanted(since?: number, signal = new AbortController().signal) {
  return {
    organizationId: 'tenant',
    url,
    mimeType,
    maxBytes: 1000,
    since: since ?? (await one.now()),
    signal,
  };
}

/** A download that runs until the test ends it. */
function held() {
  let begin: () => void = () => undefined;
  let end: (outcome: DownloadedFile | Error) => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ended = new Promise<DownloadedFile | Error>((resolve) => (end = resolve));
  const run = async () => {
    begin();
    const outcome = await ended;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  return { run, begun, end };
}

const never = () => Promise.reject(new Error('downloaded a second time'));

test('of all who want an address at once one downloads, and all get its file', async () => {
  const want = await wanted();
  const download = held();
  const first = one.share(want, download.run);
  await download.begun;
  const others = [other, one, other].map((leases) => leases.share(want, never));
  download.end(downloaded());
  expect(await Promise.all([first, ...others])).toEqual(Array.from({ length: 4 }, () => downloaded()));
});

test('all waiting callers get a failure as in failedMedia', async () => {
  const want = await wanted();
  const download = held();
  const first = one.share(want, download.run);
  await download.begun;
  const second = other.share(want, never);
  download.end(new DownloadError('not_found', 'there is no such file', { status: 404 }));
  await expect(first).rejects.toMatchObject({ reason: 'not_found', status: 404 });
  await expect(second).rejects.toMatchObject({ name: 'DownloadError', reason: 'not_found', status: 404 });
});

test('a caller that began before a download ended gets its outcome; a later caller downloads again', async () => {
  const before = await wanted();
  await one.share(before, () => Promise.resolve(downloaded()));
  expect(await other.share(before, never)).toEqual(downloaded());
  const after = await wanted((await one.now()) + 1);
  expect(await other.share(after, () => Promise.resolve(downloaded(2)))).toEqual(downloaded(2));
});

test.each([
  ['type', { mimeType: 'text/plain' }],
  ['limit', { maxBytes: 2000 }],
  ['organization', { organizationId: 'other' }],
])('a file of another %s is another download', async (_what, change) => {
  const want = await wanted();
  await one.share(want, () => Promise.resolve(downloaded()));
  const changed = { ...want, ...change };
  expect(await other.share(changed, () => Promise.resolve(downloaded(3)))).toMatchObject({
    file: { size: 3 },
  });
});

describe('another takes over', () => {
  test.each([
    { what: 'a download that is stopped', error: new Error('the build was cancelled') },
    { what: 'one whose store is full', error: new Error('no space left on device') },
  ])('$what', async ({ error }) => {
    const want = await wanted();
    const download = held();
    const first = one.share(want, download.run);
    await download.begun;
    const second = other.share(want, () => Promise.resolve(downloaded()));
    download.end(error);
    await expect(first).rejects.toBe(error);
    expect(await second).toEqual(downloaded());
  });

  test('one whose process died', async () => {
    const dying = await join(300);
    const want = await wanted();
    const download = held();
    const first = dying.share(want, download.run);
    await download.begun;
    const second = other.share(want, () => Promise.resolve(downloaded(2)));
    connections.at(-1)?.disconnect();
    expect(await second).toEqual(downloaded(2));

    // It was only slow: its file is valid, and it releases no other download's lease.
    download.end(downloaded());
    expect(await first).toEqual(downloaded());
  });
});

test('a download that takes several lives of a lease keeps it', async () => {
  const slow = await join(300);
  const want = await wanted();
  const download = held();
  const first = slow.share(want, download.run);
  await download.begun;
  const second = other.share(want, never);
  const started = Date.now();
  await waitFor('three lives of a lease', () => Date.now() - started > 900);
  download.end(downloaded());
  expect(await Promise.all([first, second])).toEqual([downloaded(), downloaded()]);
});

test('who waits and is aborted stops waiting, with the reason', async () => {
  const download = held();
  const first = one.share(await wanted(), download.run);
  await download.begun;
  const stop = new AbortController();
  const second = other.share(await wanted(undefined, stop.signal), never);
  const reason = new Error('nobody waits for this export any more');
  stop.abort(reason);
  await expect(second).rejects.toBe(reason);
  download.end(downloaded());
  await first;
});

test('while Redis is away everybody downloads', async () => {
  for (const connection of connections) connection.disconnect();
  const want = await wanted();
  const first = held();
  const running = one.share(want, first.run);
  await first.begun;
  expect(await other.share(want, () => Promise.resolve(downloaded(2)))).toEqual(downloaded(2));
  first.end(downloaded());
  expect(await running).toEqual(downloaded());
});
