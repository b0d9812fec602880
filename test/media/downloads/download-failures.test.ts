import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { DownloadRequest } from '../../../shared/media/downloads/downloader.ts';
import type { FailureReason } from '../../../shared/media/downloads/failure.ts';
import {
  answer,
  cutChunked,
  file,
  gzipped,
  hang,
  raw,
  redirectTo,
  reset,
  slowly,
  stalled,
  stream,
  truncated,
} from '../../support/origin.ts';
import type { Behavior } from '../../support/origin.ts';
import { collect, eventually, failureOf, idleSeconds, png, text, useDownloads } from './downloads.ts';

const { lab, make, get } = useDownloads();

const image = { mimeType: 'image/png' };
const encoded = (coding: string, body: Uint8Array = text) =>
  file(body, { headers: { 'content-encoding': coding } });
const brokenChunks = raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX');
const page = file('<html>', { contentType: 'text/html; charset=utf-8' });

type Case = [string, Behavior, FailureReason, number | undefined, number, Partial<DownloadRequest>?];
const cases: Case[] = [
  ['400', answer(400), 'not_found', 400, 1],
  ['403', answer(403), 'forbidden', 403, 1],
  ['404', answer(404), 'not_found', 404, 1],
  ['408', answer(408), 'timeout', 408, 3],
  ['410', answer(410), 'not_found', 410, 1],
  ['429', answer(429), 'rate_limited', 429, 6],
  ['500', answer(500), 'server_error', 500, 3],
  ['503', answer(503), 'server_error', 503, 3],
  ['204', answer(204), 'server_error', 204, 1],
  ['an unrequested 206', answer(206, {}, 'part'), 'server_error', 206, 1],
  ['a redirect without Location', answer(302), 'server_error', 302, 1],
  ['a redirect to file:', redirectTo('file:///etc/passwd'), 'blocked_address', undefined, 1],
  ['a redirect with credentials', redirectTo('http://a:b@example.org/'), 'blocked_address', undefined, 1],
  ['an endless redirect', redirectTo('/a'), 'too_many_redirects', undefined, 6],
  ['no response', hang(), 'timeout', undefined, 3],
  ['headers, then silence', stalled(text, 0), 'timeout', undefined, 3],
  ['a body that stalls', stalled(text, 100), 'timeout', undefined, 3],
  ['a reset connection', reset(), 'network', undefined, 3],
  ['broken chunks', brokenChunks, 'truncated', undefined, 3],
  ['a body shorter than its Content-Length', truncated(text, 1), 'truncated', undefined, 3],
  ['a small image shorter than its Content-Length', truncated(png, 1), 'truncated', undefined, 3, image],
  ['an empty file', file(''), 'truncated', undefined, 3],
  ['a truncated chunked body', cutChunked(text), 'truncated', undefined, 3],
  ['truncated gzip', encoded('gzip', gzipSync(text).subarray(0, -20)), 'truncated', undefined, 3],
  ['invalid gzip', encoded('gzip'), 'bad_type', undefined, 1],
  ['another encoding', encoded('br'), 'bad_type', 200, 1],
  ['an endless body', stream(), 'too_large', undefined, 1],
  ['a small gzip of a large file', gzipped(Buffer.alloc(4 * 1024 ** 2)), 'too_large', undefined, 1],
  ['a page instead of an image', page, 'bad_type', undefined, 1, image],
];

test.each(cases)(
  '%s fails with its reason, status and number of attempts, and closes its connections',
  async (_title, behavior, reason, status, attempts, request) => {
    if (reason === 'timeout' && status === undefined)
      lab.downloader = make({}, { timeoutSeconds: idleSeconds });
    lab.origin.script('/a', behavior);
    let stored = 0;
    const failure = await failureOf(
      get('/a', request, async (body) => {
        const bytes = await collect(body);
        stored += 1;
        return bytes;
      }),
    );
    expect([failure.reason, failure.status, stored]).toEqual([reason, status, 0]);
    expect(lab.origin.requests('/a')).toBe(attempts);
    // undici opens a connection in place of an aborted one. At most two of these wait for the next request.
    await eventually(() => expect(lab.origin.connections.open).toBeLessThanOrEqual(2));
  },
);

test('messages contain no URL, because URLs may carry signatures', async () => {
  lab.downloader = make({}, { timeoutSeconds: idleSeconds });
  for (const behavior of [answer(403), answer(500), reset(), hang(), truncated(text, 1)]) {
    lab.origin.script('/a', behavior);
    const failure = await failureOf(get('/a?signature=secret'));
    expect(`${failure.stack} ${String(failure.cause)}`).not.toContain('secret');
  }
});

describe('a failing store', () => {
  const full = new Error('disk full');
  const large = { maxBytes: 1024 ** 3 };

  test('fails the download with its own error, once, and closes the connection', async () => {
    lab.origin.script('/a', stream(10 * 1024 ** 2));
    await expect(get('/a', large, () => Promise.reject(full))).rejects.toBe(full);
    const failHalfway = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
      for await (const chunk of body) if (chunk.length > 0) throw full;
      return Buffer.alloc(0);
    };
    await expect(get('/a', large, failHalfway)).rejects.toBe(full);
    expect(lab.origin.requests('/a')).toBe(2);
    await eventually(() => expect(lab.origin.connections.open).toBe(0));
  });

  test('does not hide that it read only a part, or that the body broke off', async () => {
    lab.origin.script('/a', file(text));
    await expect(get('/a', {}, () => Promise.resolve(Buffer.alloc(0)))).rejects.toThrow('did not read');
    lab.origin.script('/a', truncated(text, 1));
    const failing = get('/a', {}, (body) => collect(body).catch(() => Promise.reject(full)));
    expect((await failureOf(failing)).reason).toBe('truncated');
  });
});

describe('a slow origin', () => {
  test('fails below the minimum speed, without a retry', async () => {
    lab.downloader = make({}, { timeoutSeconds: 0.5, minBytesPerSecond: 1_000_000 });
    lab.origin.script('/a', slowly(text, 1000, 20));
    const failure = await failureOf(get('/a'));
    expect(failure).toMatchObject({
      reason: 'timeout',
      message: expect.stringMatching(/sent only \d+ bytes in/),
    });
    expect(lab.origin.requests('/a')).toBe(1);
  });

  test('has one deadline for all attempts', async () => {
    lab.downloader = make({}, { deadlineSeconds: 2 });
    lab.origin.script('/a', reset(), hang());
    const message: unknown = expect.stringMatching(/did not send the file/);
    expect(await failureOf(get('/a'))).toMatchObject({ reason: 'timeout', message });
    expect(lab.origin.requests('/a')).toBe(2);
  });

  test('is not to blame for a slow store', async () => {
    lab.downloader = make({}, { timeoutSeconds: 1, minBytesPerSecond: 1000 });
    lab.origin.serve('/a', Buffer.alloc(1024 ** 2, 'x'));
    const slowStore = async (body: AsyncIterable<Uint8Array>) => {
      for await (const chunk of body) if (chunk.length > 0) await sleep(100);
      return Buffer.alloc(0);
    };
    expect(await get('/a', {}, slowStore)).toMatchObject({ modified: true });
  });
});

describe('retries', () => {
  test('store the file from its first byte again', async () => {
    lab.origin.script('/a', truncated(text, 5), answer(503), file(text));
    expect(await get('/a')).toMatchObject({ modified: true, stored: text });
    expect(lab.origin.requests('/a')).toBe(3);
  });

  test('have growing delays with jitter', async () => {
    lab.origin.script('/a', reset());
    for (let i = 0; i < 5; i++) await failureOf(get('/a'));
    for (const [index, ms] of lab.pauses.entries()) {
      const longest = index % 2 === 0 ? 500 : 1000;
      expect(ms).toBeGreaterThanOrEqual(longest / 2);
      expect(ms).toBeLessThanOrEqual(longest);
    }
    expect(new Set(lab.pauses).size).toBe(10);
  });

  test.each([
    ['seconds', () => '7', 7000, 7000],
    ['a date', () => new Date(Date.now() + 20_000).toUTCString(), 18_000, 20_000],
    ['more than a minute, limited to a minute', () => '86400', 60_000, 60_000],
    ['a distant date, limited to a minute', () => 'Fri, 31 Dec 2100 23:59:59 GMT', 60_000, 60_000],
    ['an invalid value, which is ignored', () => 'soon', 250, 500],
    ['a past date, which is ignored', () => 'Sat, 01 Jan 2000 00:00:00 GMT', 250, 500],
    ['zero, which does not shorten the backoff', () => '0', 250, 500],
  ])('respect a Retry-After of %s', async (_title, header, least, most) => {
    lab.origin.script('/a', answer(429, { 'retry-after': header() }), file(text));
    await get('/a');
    expect(lab.pauses).toHaveLength(1);
    expect(lab.pauses[0]).toBeGreaterThanOrEqual(least);
    expect(lab.pauses[0]).toBeLessThanOrEqual(most);
  });
});
