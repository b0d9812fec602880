import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DownloadError } from '../../../shared/media/downloads/failure.ts';
import { createDownloadLeases } from '../../../shared/media/downloads/leases.ts';
import type { DownloadLeases } from '../../../shared/media/downloads/leases.ts';
import type { DownloadedFile } from '../../../shared/models/remote-file.ts';
import { BestEffortRedis } from '../../../shared/platform/best-effort-redis.ts';
import { connectOptionalRedis } from '../../../shared/platform/redis.ts';
import { useHarness } from '../../support/use.ts';
import { waitFor } from '../../support/wait-for.ts';

const mimeType = 'image/png';
const harness = useHarness();

/** Two processes, each with its own connection. */
let connections: Redis[];
let one: DownloadLeases;
let other: DownloadLeases;
let url: string;
let count = 0;
beforeEach(async () => {
  url = `http://127.0.0.1/${(count += 1)}.png`;
  connections = [];
  [one, other] = [await join(), await join()];
});
afterEach(() => {
  for (const connection of connections) connection.disconnect();
});

async function join(leaseMs?: number): Promise<DownloadLeases> {
  const connection = await connectOptionalRedis(harness.servers.redisUrl, () => undefined);
  connections.push(connection);
  return createDownloadLeases(new BestEffortRedis(connection, harness.config.redisPrefix), leaseMs);
}

function downloaded(size = 1): DownloadedFile {
  const file = { sha256: 'a'.repeat(64), crc32: 1, size };
  return { url, file, declaredType: mimeType, mimeType, etag: '"1"', lastModified: null };
}

async function request(since?: number, signal = new AbortController().signal) {
  const limits = { mimeType, maxBytes: 1000 };
  return { organizationId: 'tenant', url, ...limits, since: since ?? (await one.now()), signal };
}

/** Starts a download with a lease, which runs until the test ends it. */
async function hold(leases: DownloadLeases) {
  let end: (outcome: DownloadedFile | Error) => void = () => undefined;
  const ended = new Promise<DownloadedFile | Error>((resolve) => (end = resolve));
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const wanted = await request();
  const result = leases.share(wanted, async () => {
    begin();
    const outcome = await ended;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  result.catch(() => undefined);
  await begun;
  return { wanted, result, end };
}

const succeed = (size?: number) => () => Promise.resolve(downloaded(size));
const never = () => Promise.reject(new Error('downloaded a second time'));

test('exactly one of several concurrent callers downloads, and all get its file', async () => {
  const first = await hold(one);
  const others = [other, one, other].map((leases) => leases.share(first.wanted, never));
  first.end(downloaded());
  expect(await Promise.all([first.result, ...others])).toEqual(Array.from({ length: 4 }, () => downloaded()));
});

test('all waiting callers get a failure with its reason and status', async () => {
  const first = await hold(one);
  const second = other.share(first.wanted, never);
  first.end(new DownloadError('not_found', 'there is no such file', { status: 404 }));
  const failure = { name: 'DownloadError', reason: 'not_found', status: 404 };
  // At once, because a rejection that waits for its handler counts as unhandled.
  await Promise.all([first.result, second].map((result) => expect(result).rejects.toMatchObject(failure)));
});

test('a caller that began before a download ended gets its outcome; a later caller downloads again', async () => {
  const before = await request();
  await one.share(before, succeed());
  expect(await other.share(before, never)).toEqual(downloaded());
  const after = await request((await one.now()) + 1);
  expect(await other.share(after, succeed(2))).toEqual(downloaded(2));
});

test.each([
  ['type', { mimeType: 'text/plain' }],
  ['limit', { maxBytes: 2000 }],
  ['organization', { organizationId: 'other' }],
])('requests that differ in the %s share no download', async (_what, change) => {
  const wanted = await request();
  await one.share(wanted, succeed());
  const file = { size: 3 };
  expect(await other.share({ ...wanted, ...change }, succeed(3))).toMatchObject({ file });
});

describe('a waiting caller', () => {
  test.each([
    { what: 'that is aborted', error: new Error('the build was cancelled') },
    { what: 'whose store is full', error: new Error('no space left on device') },
  ])('takes over a download $what', async ({ error }) => {
    const first = await hold(one);
    const second = other.share(first.wanted, succeed());
    first.end(error);
    await expect(first.result).rejects.toBe(error);
    expect(await second).toEqual(downloaded());
  });

  test('takes over a download whose process died', async () => {
    const first = await hold(await join(300));
    const second = other.share(first.wanted, succeed(2));
    connections.at(-1)?.disconnect();
    expect(await second).toEqual(downloaded(2));

    // The process was only slow: its file is valid, and it releases no other download's lease.
    first.end(downloaded());
    expect(await first.result).toEqual(downloaded());
  });

  test('stops with the reason of its abort', async () => {
    const first = await hold(one);
    const stop = new AbortController();
    const second = other.share(await request(undefined, stop.signal), never);
    const reason = new Error('no client waits for this export');
    stop.abort(reason);
    await expect(second).rejects.toBe(reason);
    first.end(downloaded());
    await first.result;
  });
});

test('a long download keeps its lease by renewing it', async () => {
  const first = await hold(await join(300));
  const second = other.share(first.wanted, never);
  const started = Date.now();
  await waitFor('three lifetimes of a lease', () => Date.now() - started > 900);
  first.end(downloaded());
  expect(await Promise.all([first.result, second])).toEqual([downloaded(), downloaded()]);
});

test('every caller downloads while Redis is down', async () => {
  for (const connection of connections) connection.disconnect();
  const first = await hold(one);
  expect(await other.share(first.wanted, succeed(2))).toEqual(downloaded(2));
  first.end(downloaded());
  expect(await first.result).toEqual(downloaded());
});
