import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { DownloadError, DownloadRequest } from '../../../shared/media/downloads/downloader.ts';
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
  startOrigin,
  stream,
  truncated,
} from '../../support/origin.ts';
import type { Behaviour } from '../../support/origin.ts';
import { collect, eventually, failureOf, idleSeconds, png, text, useDownloads } from './downloads.ts';

const { lab, make, get } = useDownloads();

describe('a file that fails', () => {
  const cases: [string, Behaviour, Partial<DownloadError>, number, Partial<DownloadRequest>?][] = [
    ['400', answer(400), { reason: 'not_found', status: 400 }, 1],
    ['401', answer(401), { reason: 'forbidden', status: 401 }, 1],
    ['403', answer(403), { reason: 'forbidden', status: 403 }, 1],
    ['404', answer(404), { reason: 'not_found', status: 404 }, 1],
    ['406', answer(406), { reason: 'bad_type', status: 406 }, 1],
    ['408', answer(408), { reason: 'timeout', status: 408 }, 3],
    ['410', answer(410), { reason: 'not_found', status: 410 }, 1],
    ['429', answer(429), { reason: 'rate_limited', status: 429 }, 3],
    ['451', answer(451), { reason: 'forbidden', status: 451 }, 1],
    ['500', answer(500), { reason: 'server_error', status: 500 }, 3],
    ['503', answer(503), { reason: 'server_error', status: 503 }, 3],
    ['204, which is no file', answer(204), { reason: 'server_error', status: 204 }, 1],
    ['an unrequested 206', answer(206, {}, 'part'), { reason: 'server_error', status: 206 }, 1],
    ['an unrequested 304', answer(304), { reason: 'server_error', status: 304 }, 1],
    ['a redirect without Location', answer(302), { reason: 'server_error', status: 302 }, 1],
    ['a redirect to nonsense', redirectTo('http://['), { reason: 'server_error', status: 302 }, 1],
    ['a redirect to file:', redirectTo('file:///etc/passwd'), { reason: 'blocked_address' }, 1],
    ['a redirect to data:', redirectTo('data:text/vtt,WEBVTT'), { reason: 'blocked_address' }, 1],
    [
      'a redirect with credentials',
      redirectTo('http://user:secret@example.org/'),
      { reason: 'blocked_address' },
      1,
    ],
    ['an endless redirect', redirectTo('/a'), { reason: 'too_many_redirects' }, 6],
    ['no answer', hang(), { reason: 'timeout' }, 3],
    ['headers, then silence', stalled(text, 0), { reason: 'timeout' }, 3],
    ['a body that stalls', stalled(text, 100), { reason: 'timeout' }, 3],
    ['a reset connection', reset(), { reason: 'network' }, 3],
    ['something that is not HTTP', raw('SSH-2.0-OpenSSH_9.2\r\n'), { reason: 'network' }, 3],
    [
      'broken chunks',
      raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX'),
      { reason: 'truncated' },
      3,
    ],
    ['a body shorter than its Content-Length', truncated(text, 1), { reason: 'truncated' }, 3],
    [
      'a small image shorter than its Content-Length',
      truncated(png, 1),
      { reason: 'truncated' },
      3,
      { mimeType: 'image/png' },
    ],
    ['an empty file', file(''), { reason: 'truncated' }, 3],
    ['an empty file, compressed', gzipped(''), { reason: 'truncated' }, 3],
    ['a chunked body cut off', cutChunked(text), { reason: 'truncated' }, 3],
    [
      'compressed and cut off',
      file(gzipSync(text).subarray(0, -20), { headers: { 'content-encoding': 'gzip' } }),
      { reason: 'truncated' },
      3,
    ],
    [
      'called compressed but not',
      file(text, { headers: { 'content-encoding': 'gzip' } }),
      { reason: 'bad_type' },
      1,
    ],
    [
      'compressed in another way',
      file(text, { headers: { 'content-encoding': 'br' } }),
      { reason: 'bad_type', status: 200 },
      1,
    ],
    [
      'a Content-Length above the limit',
      file(text),
      { reason: 'too_large', status: 200 },
      1,
      { maxBytes: text.length - 1 },
    ],
    ['an endless body', stream(), { reason: 'too_large' }, 1],
    ['a small gzip of a large file', gzipped(Buffer.alloc(4 * 1024 ** 2)), { reason: 'too_large' }, 1],
    [
      'a page instead of an image',
      file('<html>', { contentType: 'text/html; charset=utf-8' }),
      { reason: 'bad_type', status: 200 },
      1,
      { mimeType: 'image/png' },
    ],
  ];

  test.each(cases)(
    '%s: has its reason, status and number of tries',
    async (_title, behaviour, expected, tries, request) => {
      lab.origin.script('/a', behaviour);
      const stored: string[] = [];
      const failure = await failureOf(
        get('/a', request, async (body) => {
          const bytes = await collect(body);
          stored.push('stored');
          return bytes;
        }),
      );
      expect({ reason: failure.reason, status: failure.status }).toEqual({ status: undefined, ...expected });
      expect(lab.origin.requests('/a')).toBe(tries);
      expect(stored).toEqual([]);
    },
  );

  test('leaves no connection behind that is still in use', async () => {
    for (const [index, [, behaviour, , , request]] of cases.entries()) {
      lab.origin.script(`/${index}`, behaviour);
      await failureOf(get(`/${index}`, request));
    }
    // Every connection is closed or lies ready for the next request: one at a time was in use, so one is left.
    await eventually(() => expect(lab.origin.connections.open).toBeLessThanOrEqual(1));
  });

  test('names no URL in its message, for URLs carry signatures', async () => {
    for (const behaviour of [answer(403), answer(500), reset(), hang(), truncated(text, 1)]) {
      lab.origin.script('/a', behaviour);
      const failure = await failureOf(get('/a?signature=secret'));
      expect(`${failure.stack} ${String(failure.cause)}`).not.toContain('secret');
    }
  });

  test('at a closed port is a network failure', async () => {
    const gone = await startOrigin();
    await gone.close();
    const failure = await failureOf(
      make({}, { timeoutSeconds: 1, allowedPrivateHosts: [gone.host] }).download(
        {
          url: gone.url('/'),
          organizationId: 'a',
          mimeType: 'image/png',
          maxBytes: 1,
          signal: new AbortController().signal,
        },
        collect,
      ),
    );
    expect(failure.reason).toBe('network');
  });

  test('throws what the store throws, once, and closes the connection', async () => {
    lab.origin.script('/a', stream(10 * 1024 ** 2));
    const full = new Error('disk full');
    await expect(get('/a', { maxBytes: 1024 ** 3 }, () => Promise.reject(full))).rejects.toBe(full);
    const halfway = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
      for await (const chunk of body) if (chunk.length > 0) throw full;
      return Buffer.alloc(0);
    };
    await expect(get('/a', { maxBytes: 1024 ** 3 }, halfway)).rejects.toBe(full);
    expect(lab.origin.requests('/a')).toBe(2);
    await eventually(() => expect(lab.origin.connections.open).toBe(0));
  });

  test('is not taken for stored when the store reads only a part of it', async () => {
    lab.origin.serve('/a', text);
    await expect(get('/a', {}, () => Promise.resolve(Buffer.alloc(0)))).rejects.toThrow('did not read');
  });

  test('keeps its own reason when the store answers a broken body with an error of its own', async () => {
    lab.origin.script('/a', truncated(text, 1));
    const failure = await failureOf(
      get('/a', {}, (body) => collect(body).catch(() => Promise.reject(new Error('could not store')))),
    );
    expect(failure.reason).toBe('truncated');
  });
});

describe('a source that keeps a download going and sends next to nothing', () => {
  test('fails the file with the reason timeout, and is not asked again', async () => {
    lab.downloader = make({}, { timeoutSeconds: 1, minBytesPerSecond: 1_000_000 });
    lab.origin.script('/a', slowly(text, 1000, 20));
    const failure = await failureOf(get('/a'));
    expect(failure).toMatchObject({ reason: 'timeout', message: expect.stringMatching(/sent \d+ bytes in/) });
    expect(lab.origin.requests('/a')).toBe(1);
  });

  test('gets one deadline for all tries together', async () => {
    lab.downloader = make({}, { timeoutSeconds: 0.4, deadlineSeconds: 0.6 });
    lab.origin.script('/a', hang());
    const failure = await failureOf(get('/a'));
    expect(failure).toMatchObject({
      reason: 'timeout',
      message: expect.stringMatching(/did not send the file/),
    });
    expect(lab.origin.requests('/a')).toBe(2);
  });

  test('is not taken for a slow one that sends enough', async () => {
    lab.downloader = make({}, { minBytesPerSecond: 100 });
    lab.origin.script('/a', slowly(text, 40, idleSeconds * 50));
    expect(await get('/a')).toMatchObject({ stored: text });
  });

  test('does not make the store pay for its own slowness', async () => {
    lab.downloader = make({}, { minBytesPerSecond: 100_000 });
    const large = Buffer.alloc(1024 ** 2, 'x');
    lab.origin.serve('/a', large);
    const slowStore = async (body: AsyncIterable<Uint8Array>) => {
      for await (const chunk of body) if (chunk.length > 0) await sleep(idleSeconds * 100);
      return Buffer.alloc(0);
    };
    expect(await get('/a', {}, slowStore)).toMatchObject({ modified: true });
  });
});

describe('trying again', () => {
  test('gets the file after a temporary fault, and stores it from its first byte again', async () => {
    lab.origin.script('/a', truncated(text, 5), answer(503), file(text));
    expect(await get('/a')).toMatchObject({ modified: true, stored: text });
    expect(lab.origin.requests('/a')).toBe(3);
  });

  test('waits longer each time, never exactly as long', async () => {
    lab.origin.script('/a', reset());
    for (let i = 0; i < 5; i++) await failureOf(get('/a'));
    const first = lab.pauses.filter((_, index) => index % 2 === 0);
    const second = lab.pauses.filter((_, index) => index % 2 === 1);
    for (const ms of first) expect(ms).toBeGreaterThanOrEqual(250);
    for (const ms of first) expect(ms).toBeLessThanOrEqual(500);
    for (const ms of second) expect(ms).toBeGreaterThanOrEqual(500);
    for (const ms of second) expect(ms).toBeLessThanOrEqual(1000);
    expect(new Set(lab.pauses).size).toBe(lab.pauses.length);
  });

  test.each([
    ['seconds', () => '7', 7000, 7000],
    ['a date', () => new Date(Date.now() + 20_000).toUTCString(), 18_000, 20_000],
    ['more than a minute, which counts as a minute', () => '86400', 60_000, 60_000],
    ['a date far away, which counts as a minute', () => 'Fri, 31 Dec 2100 23:59:59 GMT', 60_000, 60_000],
    ['nonsense, which counts as nothing', () => 'soon', 250, 500],
    ['a date in the past, which counts as nothing', () => 'Sat, 01 Jan 2000 00:00:00 GMT', 250, 500],
    ['zero, which is no leave to hurry', () => '0', 250, 500],
  ])('respects a Retry-After of %s', async (_title, header, least, most) => {
    lab.origin.script('/a', answer(429, { 'retry-after': header() }), file(text));
    await get('/a');
    expect(lab.pauses).toHaveLength(1);
    expect(lab.pauses[0]).toBeGreaterThanOrEqual(least);
    expect(lab.pauses[0]).toBeLessThanOrEqual(most);
  });

  test('holds no slot while it waits', async () => {
    let release = () => {};
    lab.downloader = make(
      { pause: () => new Promise((resolve) => (release = resolve)) },
      { concurrencyPerHost: 1 },
    );
    lab.origin.script('/busy', answer(503), file(text));
    lab.origin.serve('/a', text);
    const busy = get('/busy');
    await eventually(() => expect(lab.origin.requests('/busy')).toBe(1));
    await get('/a');
    release();
    await busy;
    expect(lab.origin.requests('/busy')).toBe(2);
  });
});
