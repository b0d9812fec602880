import { setImmediate as yieldToOthers, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { answer, file, gzipped, raw, redirectTo, slowly, stream } from '../../support/origin.ts';
import type { Behavior } from '../../support/origin.ts';
import { failureOf, png, resolveTo, text, useDownloads } from './downloads.ts';

const { lab, make, get } = useDownloads();

const mp3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(2000, 0x55)]);
const pdf = Buffer.from('%PDF-1.7\n%rest of it');
const root = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const svg = `<?xml version="1.0"?>${root}`;
const xmlError = '<?xml version="1.0"?><Error/>';
const webm = Buffer.concat([
  Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d', 'hex'),
  Buffer.alloc(100),
]);
const lfsPointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 12345\n`;
const lastModified = 'Tue, 01 Jul 2025 10:00:00 GMT';

describe('a download', () => {
  test('returns the stored bytes, the type and the validators', async () => {
    lab.origin.serve('/a.png', png, { contentType: 'Image/PNG; q=1', etag: '"v1"', lastModified });
    const counts: number[] = [];
    const mimeType = 'image/png';
    const result = await get('/a.png', { mimeType, onBytes: (count) => counts.push(count) });
    expect(result).toEqual({ modified: true, stored: png, mimeType, etag: '"v1"', lastModified });
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(png.length);
    const [{ headers } = { headers: {} }] = lab.origin.log;
    expect(headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': 'Lectern' });
    expect(headers).not.toHaveProperty('referer');
  });

  test.each<[string, Behavior, Buffer]>([
    [
      'chunked, without a length',
      (_, response) => void response.write(text, () => response.end(text)),
      Buffer.concat([text, text]),
    ],
    ['ended by the connection, without a length', raw(`HTTP/1.1 200 OK\r\n\r\n${text.toString()}`), text],
    ['compressed despite the request', gzipped(text), text],
    ['with status 203', answer(203, {}, text.toString()), text],
  ])('that is %s is stored completely', async (_title, behavior, expected) => {
    lab.origin.script('/a', behavior);
    expect(await get('/a')).toMatchObject({ modified: true, stored: expected });
    expect(lab.pauses).toEqual([]);
  });

  test('that is slow, with each piece within the timeout, is stored completely', async () => {
    lab.downloader = make({}, { timeoutSeconds: 3 });
    lab.origin.script('/a', slowly(text, 12, 300));
    expect(await get('/a')).toMatchObject({ modified: true, stored: text });
    expect(lab.origin.requests('/a')).toBe(1);
  });

  test('streams in constant memory: the origin is never far ahead of the store', async () => {
    const total = 48 * 1024 ** 2;
    let sent = 0;
    let stored = 0;
    let farthest = 0;
    let largest = 0;
    const count = (bytes: number) => (sent += bytes);
    lab.origin.script('/big', stream(total, {}, count));
    await get('/big', { mimeType: 'video/mp4', maxBytes: total }, async (body) => {
      for await (const chunk of body) {
        stored += chunk.length;
        largest = Math.max(largest, chunk.length);
        // Lets the origin run ahead as far as it can.
        await yieldToOthers();
        await yieldToOthers();
        farthest = Math.max(farthest, sent - stored);
      }
      return Buffer.alloc(0);
    });
    expect(stored).toBe(total);
    expect(largest).toBeLessThanOrEqual(256 * 1024);
    // Mostly the kernel's socket buffers.
    expect(farthest).toBeLessThan(total / 3);
  });

  test('does not time out while the store is slow', async () => {
    lab.downloader = make({}, { timeoutSeconds: 1 });
    lab.origin.script('/a', stream(300_000));
    const result = await get('/a', {}, async (body) => {
      const chunks = [];
      for await (const chunk of body) {
        if (chunks.push(chunk) === 1) await sleep(1_500);
      }
      return Buffer.concat(chunks);
    });
    expect(result.modified && result.stored.length).toBe(300_000);
  });

  test('reuses the connection of a previous download, redirect or failure', async () => {
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
    ['an image of another image type', 'image/jpeg', 'image/png', png, 'image/png'],
    ['an image without a type', 'image/png', undefined, png],
    ['an image of an unspecific type', 'image/png', 'application/octet-stream', png],
    ['audio sent as video', 'audio/webm', 'video/webm', webm],
    ['audio with its signature', 'audio/mpeg', undefined, mp3],
    ['an SVG', 'image/svg+xml', 'image/svg+xml', svg],
    [
      'an SVG that begins with a comment',
      'image/svg+xml',
      undefined,
      '<!-- Made by hand --><svg xmlns="http://www.w3.org/2000/svg"/>',
    ],
    ['an SVG sent as text', 'image/svg+xml', 'text/plain', svg],
    ['subtitles without a type', 'text/vtt', undefined, text],
    ['text that begins like a bitmap', 'text/plain', undefined, `BMW ${'and others '.repeat(20)}`],
    ['a PDF of any type', 'application/pdf', 'application/x-download', pdf],
    ['unknown bytes', 'video/mp4', 'video/mp4', Buffer.alloc(10_000, 7)],
    ...[
      'application/force-download',
      'application/x-download',
      'text/plain',
      'text/html',
      'application/json',
    ].map((sent): [string, string, string, Buffer] => [`an image sent as ${sent}`, 'image/png', sent, png]),
    ['a video sent as text', 'video/webm', 'text/plain', webm],
    ['a long comment before an SVG', 'image/svg+xml', undefined, `<!-- ${'x'.repeat(5000)} -->${root}`],
    ['a PDF after other bytes', 'application/pdf', undefined, Buffer.concat([Buffer.from('\r\n\0'), pdf])],
  ])('%s is accepted', async (_title, mimeType, contentType, body, expected = mimeType) => {
    lab.origin.serve('/a', body, { ...(contentType !== undefined && { contentType }) });
    const stored = Buffer.from(body);
    expect(await get('/a', { mimeType })).toMatchObject({ modified: true, mimeType: expected, stored });
  });

  test.each<[string, string, string | undefined, Buffer | string]>([
    ['a page without a type for an image', 'image/png', undefined, '\n<!DOCTYPE html>\n<title>Gone</title>'],
    ['a page after a comment', 'audio/mpeg', undefined, '\ufeff<!-- 404 --> <html>'],
    ['a part of a page', 'video/mp4', undefined, '<h1>Not found</h1>'],
    ['a page without a type for an SVG', 'image/svg+xml', undefined, '<!doctype html><svg>'],
    ['a page without a type for subtitles', 'text/vtt', undefined, '<html><body>Log in'],
    ['a page without a type for a PDF', 'application/pdf', undefined, '<!doctype html>'],
    ['an XML error for a PNG', 'image/png', undefined, xmlError],
    ['an image for a video', 'video/mp4', 'video/mp4', png],
    ['an SVG for a PNG', 'image/png', 'image/png', svg],
    ['a PNG for an SVG', 'image/svg+xml', 'image/svg+xml', png],
    ...[
      'image/jpeg',
      'image/svg+xml',
      'audio/mpeg',
      'video/mp4',
      'application/pdf',
      'application/zip',
    ].flatMap((declared): [string, string, string, Buffer | string][] => [
      [`a Git LFS pointer for ${declared}`, declared, declared, lfsPointer],
      [`JSON for ${declared}`, declared, declared, '{"error":"not found"}'],
      [`a page for ${declared}`, declared, declared, '<html><body>Log in'],
      [`text for ${declared}`, declared, declared, 'Not found'],
      [`text in Latin-1 for ${declared}`, declared, declared, Buffer.from('Gone \xa9', 'latin1')],
      [`text in UTF-16 for ${declared}`, declared, declared, Buffer.from('\ufeffNot found', 'utf16le')],
      [`zero bytes for ${declared}`, declared, declared, Buffer.alloc(1000)],
    ]),
    ['a Git LFS pointer for a document of any type', 'application/octet-stream', undefined, lfsPointer],
    ['unknown bytes for subtitles', 'text/vtt', 'text/vtt', Buffer.alloc(100, 7)],
    ['two bytes of a JPEG', 'image/jpeg', 'image/jpeg', Buffer.from('ffd8', 'hex')],
    ['the first bytes of a PNG', 'image/png', 'image/png', png.subarray(0, 20)],
    ['a PDF sent as an image', 'image/png', 'image/png', pdf],
    ['audio without a type for an image', 'image/png', undefined, mp3],
  ])('%s is rejected before a byte is stored', async (_title, mimeType, contentType, body) => {
    lab.origin.serve('/a', body, { ...(contentType !== undefined && { contentType }) });
    let bytes = 0;
    const failure = await failureOf(
      get('/a', { mimeType }, async (source) => {
        for await (const chunk of source) bytes += chunk.length;
        return Buffer.alloc(0);
      }),
    );
    expect([failure.reason, bytes, lab.origin.requests('/a')]).toEqual(['bad_type', 0, 1]);
  });

  test('are detected even if the first bytes arrive one by one', async () => {
    lab.origin.script('/a', slowly(pdf, pdf.length, 1), file(png));
    expect((await failureOf(get('/a', { mimeType: 'image/png' }))).reason).toBe('bad_type');
  });
});

describe('a known file', () => {
  test.each([
    ['ETag', { etag: '"v1"' }],
    ['date', { lastModified }],
  ])('with the same %s is not sent again', async (_title, validators) => {
    lab.origin.serve('/a', text, validators);
    expect(await get('/a')).toMatchObject(validators);
    expect(await get('/a', { validators })).toEqual({ modified: false });
  });

  test('that changed is sent again', async () => {
    lab.origin.serve('/a', text, { etag: '"v2"' });
    expect(await get('/a', { validators: { etag: '"v1"' } })).toMatchObject({ stored: text, etag: '"v2"' });
  });

  test('exchanges no validators with another host', async () => {
    const [, port] = lab.origin.host.split(':');
    const allowedPrivateHosts = [lab.origin.host, `cdn.test:${port}`];
    lab.downloader = make({ lookup: resolveTo('127.0.0.1') }, { allowedPrivateHosts });
    lab.origin.script('/a', redirectTo(`http://cdn.test:${port}/b`));
    lab.origin.serve('/b', text, { etag: '"v1"' });
    const result = await get('/a', { validators: { etag: '"v1"' } });
    expect(result).toEqual({ modified: true, stored: text, mimeType: 'text/plain' });
    expect(lab.origin.log.map(({ headers }) => headers['if-none-match'])).toEqual(['"v1"', undefined]);
  });
});
