import { setImmediate as yieldToOthers, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { answer, file, gzipped, raw, redirectTo, slowly, stream } from '../../support/origin.ts';
import type { Behaviour } from '../../support/origin.ts';
import { failureOf, idleSeconds, png, resolveTo, text, useDownloads } from './downloads.ts';

const { lab, make, get } = useDownloads();

const mp3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(2000, 0x55)]);
const ogg = Buffer.concat([Buffer.from('OggS\x00\x02'), Buffer.alloc(200)]);
const pdf = Buffer.from('%PDF-1.7\n%rest of it');
const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>';

describe('a file that arrives', () => {
  test('is stored byte for byte and described', async () => {
    lab.origin.serve('/a.png', png, {
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
    lab.origin.serve('/a', text);
    await get('/a');
    expect(lab.origin.log[0]?.headers).toMatchObject({
      'accept-encoding': 'identity',
      'user-agent': 'Lectern',
    });
    expect(lab.origin.log[0]?.headers).not.toHaveProperty('referer');
  });

  test.each<[string, Behaviour, Buffer]>([
    ['slowly, each piece sooner than the timeout', slowly(text, 8, idleSeconds * 200), text],
    [
      'in chunks without a length',
      (_, response) => void response.write(text, () => response.end(text)),
      Buffer.concat([text, text]),
    ],
    ['until the connection ends, without a length', raw(`HTTP/1.1 200 OK\r\n\r\n${text.toString()}`), text],
    ['compressed although it was asked not to be', gzipped(text), text],
    ['with status 203', answer(203, {}, text.toString()), text],
  ])('%s is stored whole', async (_title, behaviour, expected) => {
    lab.origin.script('/a', behaviour);
    expect(await get('/a')).toMatchObject({ modified: true, stored: expected });
    expect(lab.pauses).toEqual([]);
  });

  test('larger than memory should hold streams: the origin is never far ahead of the store', async () => {
    const total = 64 * 1024 ** 2;
    let sent = 0;
    let stored = 0;
    let farthest = 0;
    let largest = 0;
    lab.origin.script(
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
    lab.origin.script('/a', stream(300_000));
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
    lab.origin.serve('/a', text);
    lab.origin.script('/gone', answer(404, {}, 'no such file'));
    lab.origin.script('/moved', redirectTo('/a'));
    await get('/a');
    await failureOf(get('/gone'));
    await get('/moved');
    await get('/a');
    expect(lab.origin.connections.total).toBe(1);
  });
});

describe('types', () => {
  test.each<[string, string, string | undefined, Buffer | string, string?]>([
    ['an image under another image type', 'image/jpeg', 'image/png', png, 'image/png'],
    ['an image of an unnamed type', 'image/png', undefined, png],
    ['an image of an unspecific type', 'image/png', 'application/octet-stream', png],
    ['an image of an unspecific type, S3 style', 'image/png', 'binary/octet-stream', png],
    ['an image that is declared as nothing special', 'application/octet-stream', undefined, png],
    ['a type that makes no sense', 'image/png', 'png', png],
    ['audio named video', 'audio/webm', 'video/webm', 'unknown bytes'],
    ['audio named application/ogg', 'audio/ogg', 'application/ogg', ogg],
    ['audio that shows as audio', 'audio/mpeg', undefined, mp3],
    ['an SVG', 'image/svg+xml', 'image/svg+xml', svg],
    ['an SVG of no type', 'image/svg+xml', undefined, svg],
    ['an SVG that begins with a comment', 'image/svg+xml', undefined, '<!-- Made by hand --><svg/>'],
    ['an SVG served as text', 'image/svg+xml', 'text/plain', svg],
    ['subtitles served as text', 'text/vtt', 'text/plain', text],
    ['subtitles of no type', 'text/vtt', undefined, text],
    ['text that begins as a bitmap does', 'text/plain', undefined, `BMW ${'and others '.repeat(20)}`],
    ['Markdown that begins with a tag', 'text/markdown', undefined, '<p align="center">Title</p>'],
    ['a playlist', 'audio/mpegurl', undefined, '#EXTM3U\n'],
    ['a PDF served as anything', 'application/pdf', 'application/x-download', pdf],
    ['a page that is declared as one', 'text/html', 'text/html', '<!doctype html>'],
    ['unknown bytes', 'video/mp4', 'video/mp4', Buffer.alloc(10_000, 7)],
  ])('%s is accepted', async (_title, mimeType, contentType, body, expected) => {
    lab.origin.serve('/a', body, { ...(contentType !== undefined && { contentType }) });
    expect(await get('/a', { mimeType })).toMatchObject({
      modified: true,
      mimeType: expected ?? mimeType,
      stored: Buffer.from(body),
    });
  });

  test.each<[string, string, string | undefined, Buffer | string]>([
    ['a page of no type for an image', 'image/png', undefined, '\n<!DOCTYPE html>\n<title>Gone</title>'],
    [
      'a page of an unspecific type for an image',
      'image/png',
      'application/octet-stream',
      '<html lang="en">',
    ],
    ['a page behind a comment', 'audio/mpeg', undefined, '\ufeff<!-- 404 --> <html>'],
    ['a part of a page', 'video/mp4', undefined, '<h1>Not found</h1>'],
    ['a page of no type for an SVG', 'image/svg+xml', undefined, '<!doctype html><svg>'],
    ['a page of no type for subtitles', 'text/vtt', undefined, '<html><body>Log in'],
    ['a page of no type for a PDF', 'application/pdf', undefined, '<!doctype html>'],
    ['an image for subtitles', 'text/vtt', undefined, png],
    ['an error document in XML for a PNG', 'image/png', undefined, '<?xml version="1.0"?><Error/>'],
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
    lab.origin.serve('/a', body, { ...(contentType !== undefined && { contentType }) });
    let bytes = 0;
    const failure = await failureOf(
      get('/a', { mimeType }, async (source) => {
        for await (const chunk of source) bytes += chunk.length;
        return Buffer.alloc(0);
      }),
    );
    expect(failure.reason).toBe('bad_type');
    expect(bytes).toBe(0);
    expect(lab.origin.requests('/a')).toBe(1);
  });

  test('are detected from first bytes that arrive one by one', async () => {
    lab.origin.script('/a', slowly(pdf, pdf.length, 1), file(png));
    expect((await failureOf(get('/a', { mimeType: 'image/png' }))).reason).toBe('bad_type');
  });
});

describe('a file that is known', () => {
  test.each([
    ['ETag', { etag: '"v1"' }],
    ['date', { lastModified: 'Tue, 01 Jul 2025 10:00:00 GMT' }],
  ])('is not sent again when its %s is the same', async (_title, validators) => {
    lab.origin.serve('/a', text, validators);
    const known = await get('/a');
    expect(known).toMatchObject(validators);
    expect(await get('/a', { validators })).toEqual({ modified: false });
  });

  test('is sent again when it changed', async () => {
    lab.origin.serve('/a', text, { etag: '"v2"' });
    expect(await get('/a', { validators: { etag: '"v1"' } })).toMatchObject({ stored: text, etag: '"v2"' });
  });

  test('on another host is neither asked about by validator nor given one', async () => {
    const lookup = resolveTo('127.0.0.1');
    const port = lab.origin.host.split(':')[1];
    lab.downloader = make(
      { lookup },
      { timeoutSeconds: 1, allowedPrivateHosts: [lab.origin.host, `cdn.test:${port}`] },
    );
    lab.origin.script('/a', redirectTo(`http://cdn.test:${port}/b`));
    lab.origin.serve('/b', text, { etag: '"v1"' });
    const result = await get('/a', { validators: { etag: '"v1"' } });
    expect(result).toEqual({ modified: true, stored: text, mimeType: 'text/vtt' });
    expect(lab.origin.log.map(({ headers }) => headers['if-none-match'])).toEqual(['"v1"', undefined]);
  });
});
