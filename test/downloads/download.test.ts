import { getEventListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import { setImmediate as yieldToOthers, setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createDownloader,
  type Downloader,
  type DownloaderInternals,
  DownloadError,
  type DownloadRequest,
} from '../../shared/downloads/downloader.ts';
import {
  answer,
  type Behaviour,
  cutChunked,
  file,
  gzipped,
  hang,
  type Origin,
  raw,
  redirectTo,
  reset,
  slowly,
  stalled,
  startOrigin,
  stream,
  truncated,
} from '../support/origin.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const mp3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(2000, 0x55)]);
const ogg = Buffer.concat([Buffer.from('OggS\x00\x02'), Buffer.alloc(200)]);
const pdf = Buffer.from('%PDF-1.7\n%rest of it');
const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>';
const text = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'.repeat(40));

let origin: Origin;
let downloader: Downloader;
let pauses: number[];
/** The timeout: short, yet long against the hiccups of a busy machine. */
const idleSeconds = 0.3;

function make(internals: DownloaderInternals = {}, concurrencyPerHost = 6): Downloader {
  return createDownloader(
    {
      maxBytes: 1,
      concurrency: 1,
      concurrencyPerHost,
      timeoutSeconds: idleSeconds,
      allowedPrivateHosts: [origin.host],
    },
    {
      pause: (ms) => {
        pauses.push(ms);
        return Promise.resolve();
      },
      ...internals,
    },
  );
}

beforeEach(async () => {
  origin = await startOrigin();
  pauses = [];
  downloader = make();
});

afterEach(async () => {
  downloader.close();
  await origin.close();
});

/** A store in memory, as blobs.put is on disk. */
async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A name server that knows one address for every name. */
const resolveTo =
  (address: string): LookupFunction =>
  (_name, options, callback) => {
    if (options.all === true) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };

const get = (path: string, request: Partial<DownloadRequest> = {}, store = collect) =>
  downloader.download(
    {
      url: origin.url(path),
      mimeType: 'text/vtt',
      maxBytes: 1024 ** 2,
      signal: new AbortController().signal,
      ...request,
    },
    store,
  );

const failureOf = (download: Promise<unknown>): Promise<DownloadError> =>
  download.then(
    () => expect.unreachable('the download succeeded'),
    (error: unknown) => {
      if (!(error instanceof DownloadError)) throw error;
      return error;
    },
  );

/** Waits for what other ends of connections have yet to notice. */
const eventually = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 5000 });

describe('a file that arrives', () => {
  test('is stored byte for byte and described', async () => {
    origin.serve('/a.png', png, {
      contentType: 'Image/PNG; q=1',
      etag: '"v1"',
      lastModified: 'Tue, 01 Jul 2025 10:00:00 GMT',
    });
    const counts: number[] = [];
    const result = await get('/a.png', { mimeType: 'image/png', onBytes: (count) => counts.push(count) });
    expect(result).toEqual({
      modified: true,
      stored: png,
      mimeType: 'image/png',
      etag: '"v1"',
      lastModified: 'Tue, 01 Jul 2025 10:00:00 GMT',
    });
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(png.length);
  });

  test('is asked for without compression, without a Referer and with a name', async () => {
    origin.serve('/a', text);
    await get('/a');
    expect(origin.log[0]?.headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': 'Lectern' });
    expect(origin.log[0]?.headers).not.toHaveProperty('referer');
  });

  test.each<[string, Behaviour, Buffer]>([
    ['slowly, each piece sooner than the timeout', slowly(text, 8, idleSeconds * 200), text],
    [
      'in chunks without a length',
      (_, response) => void response.write(text, () => response.end(text)),
      Buffer.concat([text, text]),
    ],
    ['until the connection ends, without a length', raw(`HTTP/1.1 200 OK\r\n\r\n${text.toString()}`), text],
    ['empty', file(''), Buffer.alloc(0)],
    ['compressed although it was asked not to be', gzipped(text), text],
    ['with status 203', answer(203, {}, text.toString()), text],
  ])('%s is stored whole', async (_title, behaviour, expected) => {
    origin.script('/a', behaviour);
    expect(await get('/a')).toMatchObject({ modified: true, stored: expected });
    expect(pauses).toEqual([]);
  });

  test('larger than memory should hold streams: the origin is never far ahead of the store', async () => {
    const total = 64 * 1024 ** 2;
    let sent = 0;
    let stored = 0;
    let farthest = 0;
    let largest = 0;
    origin.script(
      '/big',
      stream(total, {}, (count) => (sent += count)),
    );
    await get('/big', { mimeType: 'video/mp4', maxBytes: total }, async (body) => {
      for await (const chunk of body) {
        stored += chunk.length;
        largest = Math.max(largest, chunk.length);
        // Gives the origin every chance to run ahead.
        await yieldToOthers();
        await yieldToOthers();
        farthest = Math.max(farthest, sent - stored);
      }
      return Buffer.alloc(0);
    });
    expect(stored).toBe(total);
    expect(largest).toBeLessThanOrEqual(256 * 1024);
    // What the kernel's socket buffers take is the larger part of it.
    expect(farthest).toBeLessThan(total / 4);
  });

  test('to a store slower than the timeout is not given up: that time is not the origin’s', async () => {
    origin.script('/a', stream(300_000));
    const result = await get('/a', {}, async (body) => {
      const chunks = [];
      for await (const chunk of body) {
        if (chunks.push(chunk) === 1) await sleep(idleSeconds * 1500);
      }
      return Buffer.concat(chunks);
    });
    expect(result.modified && result.stored.length).toBe(300_000);
  });

  test('reuses the connection of the one before, of a redirect and of a failure', async () => {
    origin.serve('/a', text);
    origin.script('/gone', answer(404, {}, 'no such file'));
    origin.script('/moved', redirectTo('/a'));
    await get('/a');
    await failureOf(get('/gone'));
    await get('/moved');
    await get('/a');
    expect(origin.connections.total).toBe(1);
  });
});

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
    ['206 that nobody asked for', answer(206, {}, 'part'), { reason: 'server_error', status: 206 }, 1],
    ['304 that nobody asked for', answer(304), { reason: 'server_error', status: 304 }, 1],
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
      origin.script('/a', behaviour);
      const stored: string[] = [];
      const failure = await failureOf(
        get('/a', request, async (body) => {
          const bytes = await collect(body);
          stored.push('stored');
          return bytes;
        }),
      );
      expect({ reason: failure.reason, status: failure.status }).toEqual({ status: undefined, ...expected });
      expect(origin.requests('/a')).toBe(tries);
      expect(stored).toEqual([]);
    },
  );

  test('leaves no connection behind that is still in use', async () => {
    for (const [index, [, behaviour, , , request]] of cases.entries()) {
      origin.script(`/${index}`, behaviour);
      await failureOf(get(`/${index}`, request));
    }
    // Every connection is closed or lies ready for the next request: one at a time was in use, so one is left.
    await eventually(() => expect(origin.connections.open).toBeLessThanOrEqual(1));
  });

  test('names no URL in its message, for URLs carry signatures', async () => {
    for (const behaviour of [answer(403), answer(500), reset(), hang(), truncated(text, 1)]) {
      origin.script('/a', behaviour);
      const failure = await failureOf(get('/a?signature=secret'));
      expect(`${failure.stack} ${String(failure.cause)}`).not.toContain('secret');
    }
  });

  test('at a closed port is a network failure', async () => {
    const gone = await startOrigin();
    await gone.close();
    const failure = await failureOf(
      createDownloader(
        {
          maxBytes: 1,
          concurrency: 1,
          concurrencyPerHost: 1,
          timeoutSeconds: 1,
          allowedPrivateHosts: [gone.host],
        },
        { pause: () => Promise.resolve() },
      ).download(
        { url: gone.url('/'), mimeType: 'image/png', maxBytes: 1, signal: new AbortController().signal },
        collect,
      ),
    );
    expect(failure.reason).toBe('network');
  });

  test('throws what the store throws, once, and closes the connection', async () => {
    origin.script('/a', stream(10 * 1024 ** 2));
    const full = new Error('disk full');
    await expect(get('/a', { maxBytes: 1024 ** 3 }, () => Promise.reject(full))).rejects.toBe(full);
    const halfway = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
      for await (const chunk of body) if (chunk.length > 0) throw full;
      return Buffer.alloc(0);
    };
    await expect(get('/a', { maxBytes: 1024 ** 3 }, halfway)).rejects.toBe(full);
    expect(origin.requests('/a')).toBe(2);
    await eventually(() => expect(origin.connections.open).toBe(0));
  });

  test('is not taken for stored when the store reads only a part of it', async () => {
    origin.serve('/a', text);
    await expect(get('/a', {}, () => Promise.resolve(Buffer.alloc(0)))).rejects.toThrow('did not read');
  });

  test('keeps its own reason when the store answers a broken body with an error of its own', async () => {
    origin.script('/a', truncated(text, 1));
    const failure = await failureOf(
      get('/a', {}, (body) => collect(body).catch(() => Promise.reject(new Error('could not store')))),
    );
    expect(failure.reason).toBe('truncated');
  });
});

describe('trying again', () => {
  test('brings the file when a fault passes, and stores it anew from its first byte', async () => {
    origin.script('/a', truncated(text, 5), answer(503), file(text));
    expect(await get('/a')).toMatchObject({ modified: true, stored: text });
    expect(origin.requests('/a')).toBe(3);
  });

  test('waits longer each time, never exactly as long', async () => {
    origin.script('/a', reset());
    for (let i = 0; i < 5; i++) await failureOf(get('/a'));
    const first = pauses.filter((_, index) => index % 2 === 0);
    const second = pauses.filter((_, index) => index % 2 === 1);
    for (const ms of first) expect(ms).toBeGreaterThanOrEqual(250);
    for (const ms of first) expect(ms).toBeLessThanOrEqual(500);
    for (const ms of second) expect(ms).toBeGreaterThanOrEqual(500);
    for (const ms of second) expect(ms).toBeLessThanOrEqual(1000);
    expect(new Set(pauses).size).toBe(pauses.length);
  });

  test.each([
    ['seconds', () => '7', 7000, 7000],
    ['a date', () => new Date(Date.now() + 20_000).toUTCString(), 18_000, 20_000],
    ['more than a minute, which counts as a minute', () => '86400', 60_000, 60_000],
    ['a date far away, which counts as a minute', () => 'Fri, 31 Dec 2100 23:59:59 GMT', 60_000, 60_000],
    ['nonsense, which counts as nothing', () => 'soon', 250, 500],
    ['a date in the past, which counts as nothing', () => 'Sat, 01 Jan 2000 00:00:00 GMT', 250, 500],
    ['zero, which is no leave to hurry', () => '0', 250, 500],
  ])('heeds a Retry-After of %s', async (_title, header, least, most) => {
    origin.script('/a', answer(429, { 'retry-after': header() }), file(text));
    await get('/a');
    expect(pauses).toHaveLength(1);
    expect(pauses[0]).toBeGreaterThanOrEqual(least);
    expect(pauses[0]).toBeLessThanOrEqual(most);
  });

  test('holds no slot while it waits', async () => {
    let release = () => {};
    downloader = make({ pause: () => new Promise((resolve) => (release = resolve)) }, 1);
    origin.script('/busy', answer(503), file(text));
    origin.serve('/a', text);
    const busy = get('/busy');
    await eventually(() => expect(origin.requests('/busy')).toBe(1));
    await get('/a');
    release();
    await busy;
    expect(origin.requests('/busy')).toBe(2);
  });
});

describe('an abort', () => {
  const reason = new Error('no longer wanted');

  test.each<[string, Behaviour]>([
    ['before an answer', hang()],
    ['within a body', stalled(text, 10)],
    ['within a compressed body', stalled(gzipSync(text), 10, { 'content-encoding': 'gzip' })],
  ])('%s ends the download at once with its reason, without another try', async (_title, behaviour) => {
    downloader = createDownloader({
      maxBytes: 1,
      concurrency: 1,
      concurrencyPerHost: 1,
      timeoutSeconds: 3600,
      allowedPrivateHosts: [origin.host],
    });
    origin.script('/a', behaviour);
    const controller = new AbortController();
    const download = get('/a', { signal: controller.signal });
    await eventually(() => expect(origin.requests('/a')).toBe(1));
    controller.abort(reason);
    await expect(download).rejects.toBe(reason);
    expect(origin.requests('/a')).toBe(1);
    await eventually(() => expect(origin.connections.open).toBe(0));
  });

  test('ends an endless download whose store reads on and on', async () => {
    origin.script('/a', stream());
    const controller = new AbortController();
    let size = 0;
    const onBytes = (count: number) => {
      size += count;
      if (size > 1024 ** 2) controller.abort(reason);
    };
    await expect(get('/a', { signal: controller.signal, maxBytes: Infinity, onBytes })).rejects.toBe(reason);
    await eventually(() => expect(origin.connections.open).toBe(0));
  });

  test('may be meant for many downloads: each stops listening when it ends, and none warns of a leak', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on('warning', listen);
    const { signal } = new AbortController();
    origin.serve('/a', text);
    await Promise.all(Array.from({ length: 50 }, () => get('/a', { signal })));
    await yieldToOthers();
    process.off('warning', listen);
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends the wait for a slot', async () => {
    downloader = make({}, 1);
    origin.script('/a', hang());
    const first = new AbortController();
    const second = new AbortController();
    const holding = get('/a', { signal: first.signal });
    const waiting = get('/b', { signal: second.signal });
    second.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    first.abort(reason);
    await expect(holding).rejects.toBe(reason);
    expect(origin.requests('/b')).toBe(0);
  });

  test('ends the wait between two tries', async () => {
    downloader = createDownloader({
      maxBytes: 1,
      concurrency: 1,
      concurrencyPerHost: 1,
      timeoutSeconds: 1,
      allowedPrivateHosts: [origin.host],
    });
    origin.script('/a', answer(503, { 'retry-after': '60' }));
    const controller = new AbortController();
    const download = get('/a', { signal: controller.signal });
    await eventually(() => expect(origin.requests('/a')).toBe(1));
    await eventually(() => expect(origin.connections.open).toBe(1));
    controller.abort(reason);
    await expect(download).rejects.toBe(reason);
  });

  test('that came before the download keeps it from asking anyone', async () => {
    await expect(get('/a', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(origin.log).toEqual([]);
  });
});

describe('types', () => {
  test.each<[string, string, string | undefined, Buffer | string, string | null]>([
    ['an image under another image type', 'image/jpeg', 'image/png', png, 'image/png'],
    ['an image of an unnamed type', 'image/png', undefined, png, 'image/png'],
    ['an image of an unspecific type', 'image/png', 'application/octet-stream', png, 'image/png'],
    ['an image of an unspecific type, S3 style', 'image/png', 'binary/octet-stream', png, 'image/png'],
    ['a type that makes no sense', 'image/png', 'png', png, 'image/png'],
    ['audio named video', 'audio/webm', 'video/webm', 'unknown bytes', 'video/webm'],
    ['audio named application/ogg', 'audio/ogg', 'application/ogg', ogg, 'application/ogg'],
    ['audio that shows as audio', 'audio/mpeg', undefined, mp3, 'audio/mpeg'],
    ['an SVG', 'image/svg+xml', 'image/svg+xml', svg, 'image/svg+xml'],
    ['an SVG of no type', 'image/svg+xml', undefined, svg, null],
    ['an SVG served as text', 'image/svg+xml', 'text/plain', svg, 'text/plain'],
    ['subtitles served as text', 'text/vtt', 'text/plain', text, 'text/plain'],
    ['a PDF served as anything', 'application/pdf', 'application/x-download', pdf, 'application/x-download'],
    ['a page that is declared as one', 'text/html', 'text/html', '<!doctype html>', 'text/html'],
    ['bytes that nobody knows', 'video/mp4', 'video/mp4', Buffer.alloc(10_000, 7), 'video/mp4'],
  ])('%s is accepted', async (_title, mimeType, contentType, body, expected) => {
    origin.serve('/a', body, { ...(contentType !== undefined && { contentType }) });
    expect(await get('/a', { mimeType })).toMatchObject({
      modified: true,
      mimeType: expected,
      stored: Buffer.from(body),
    });
  });

  test.each<[string, string, string | undefined, Buffer | string]>([
    ['a page for a video', 'video/mp4', 'text/html', '<html>'],
    ['a page for subtitles', 'text/vtt', 'text/html', '<html>'],
    ['JSON for audio', 'audio/mpeg', 'application/json', '{}'],
    ['an image for a video', 'video/mp4', 'image/png', png],
    ['XML for a PNG', 'image/png', 'application/xml', svg],
    ['a PDF that is served as an image', 'image/png', 'image/png', pdf],
    ['an image that is served as audio', 'audio/mpeg', 'audio/mpeg', png],
    ['audio without a type for an image', 'image/png', undefined, mp3],
    ['an error document in XML for a video', 'video/mp4', undefined, '<?xml version="1.0"?><Error/>'],
  ])('%s is refused before a byte is stored', async (_title, mimeType, contentType, body) => {
    origin.serve('/a', body, { ...(contentType !== undefined && { contentType }) });
    let bytes = 0;
    const failure = await failureOf(
      get('/a', { mimeType }, async (source) => {
        for await (const chunk of source) bytes += chunk.length;
        return Buffer.alloc(0);
      }),
    );
    expect(failure.reason).toBe('bad_type');
    expect(bytes).toBe(0);
    expect(origin.requests('/a')).toBe(1);
  });

  test('are told from first bytes that trickle in one by one', async () => {
    origin.script('/a', slowly(pdf, pdf.length, 1), file(png));
    expect((await failureOf(get('/a', { mimeType: 'image/png' }))).reason).toBe('bad_type');
  });
});

describe('a file that is known', () => {
  test.each([
    ['ETag', { etag: '"v1"' }],
    ['date', { lastModified: 'Tue, 01 Jul 2025 10:00:00 GMT' }],
  ])('is not sent again when its %s is the same', async (_title, validators) => {
    origin.serve('/a', text, validators);
    const known = await get('/a');
    expect(known).toMatchObject(validators);
    expect(await get('/a', { validators })).toEqual({ modified: false });
  });

  test('is sent again when it changed', async () => {
    origin.serve('/a', text, { etag: '"v2"' });
    expect(await get('/a', { validators: { etag: '"v1"' } })).toMatchObject({ stored: text, etag: '"v2"' });
  });

  test('on another host is neither asked about by validator nor given one', async () => {
    const lookup = resolveTo('127.0.0.1');
    const port = origin.host.split(':')[1];
    downloader = createDownloader(
      {
        maxBytes: 1,
        concurrency: 1,
        concurrencyPerHost: 1,
        timeoutSeconds: 1,
        allowedPrivateHosts: [origin.host, `cdn.test:${port}`],
      },
      { lookup },
    );
    origin.script('/a', redirectTo(`http://cdn.test:${port}/b`));
    origin.serve('/b', text, { etag: '"v1"' });
    const result = await get('/a', { validators: { etag: '"v1"' } });
    expect(result).toEqual({ modified: true, stored: text, mimeType: null });
    expect(origin.log.map(({ headers }) => headers['if-none-match'])).toEqual(['"v1"', undefined]);
  });
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('of status %i are followed, relative ones too', async (status) => {
    origin.script('/dir/a', redirectTo('../b?c=d', status));
    origin.serve('/b', text);
    expect(await get('/dir/a')).toMatchObject({ stored: text });
    expect(origin.log[1]?.url).toBe('/b?c=d');
  });

  test('may be five, not six', async () => {
    for (let i = 1; i < 7; i++) origin.script(`/${i}`, redirectTo(`/${i + 1}`));
    origin.serve('/7', text);
    expect(await get('/2')).toMatchObject({ stored: text });
    expect(await failureOf(get('/1'))).toMatchObject({ reason: 'too_many_redirects' });
  });

  test('to an address that is not ASCII are followed as UTF-8', async () => {
    origin.script('/a', raw('HTTP/1.1 302 Found\r\nLocation: /größe\r\nContent-Length: 0\r\n\r\n'));
    origin.serve('/gr%C3%B6%C3%9Fe', text);
    expect(await get('/a')).toMatchObject({ stored: text });
  });
});

describe('requests to one host', () => {
  test('are never more at once than its limit, and as many as that', async () => {
    downloader = make({}, 3);
    origin.script('/a', slowly(text, 2, 10));
    await Promise.all(Array.from({ length: 20 }, () => get('/a')));
    expect(origin.peak).toBe(3);
    expect(origin.connections.total).toBe(3);
  });

  test('do not count time spent waiting for a slot as silence', async () => {
    downloader = make({}, 1);
    origin.script('/a', slowly(text, 2, idleSeconds * 250));
    await Promise.all(Array.from({ length: 4 }, () => get('/a')));
    expect(origin.requests('/a')).toBe(4);
  });

  test('do not hold up another host', async () => {
    const port = origin.host.split(':')[1];
    downloader = createDownloader(
      {
        maxBytes: 1,
        concurrency: 1,
        concurrencyPerHost: 1,
        timeoutSeconds: 60,
        allowedPrivateHosts: [`a.test:${port}`, `b.test:${port}`],
      },
      { lookup: resolveTo('127.0.0.1') },
    );
    origin.script('/hang', hang());
    origin.serve('/b', text);
    const controller = new AbortController();
    const held = get('/hang', { url: `http://a.test:${port}/hang`, signal: controller.signal });
    expect(await get('/b', { url: `http://b.test:${port}/b` })).toMatchObject({ stored: text });
    controller.abort(new Error('enough'));
    await expect(held).rejects.toThrow('enough');
  });
});
