import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { answer, hang, raw, redirectTo, slowly, stalled, stream } from '../../support/origin.ts';
import type { Behavior } from '../../support/origin.ts';
import { eventually, failureOf, resolveTo, text, useDownloads } from './downloads.ts';

const { lab, make, get } = useDownloads();

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('with status %i are followed, also relative ones', async (status) => {
    lab.origin.script('/dir/a', redirectTo('../b?c=d', status));
    lab.origin.serve('/b', text);
    expect(await get('/dir/a')).toMatchObject({ stored: text });
    expect(lab.origin.log[1]?.url).toBe('/b?c=d');
  });

  test('are followed five times', async () => {
    for (let i = 1; i < 7; i++) lab.origin.script(`/${i}`, redirectTo(`/${i + 1}`));
    lab.origin.serve('/7', text);
    expect(await get('/2')).toMatchObject({ stored: text });
    expect(await failureOf(get('/1'))).toMatchObject({ reason: 'too_many_redirects' });
  });

  test('with a non-ASCII Location are followed as UTF-8', async () => {
    lab.origin.script('/a', raw('HTTP/1.1 302 Found\r\nLocation: /größe\r\nContent-Length: 0\r\n\r\n'));
    lab.origin.serve('/gr%C3%B6%C3%9Fe', text);
    expect(await get('/a')).toMatchObject({ stored: text });
  });
});

describe('requests to one host', () => {
  test('of each organization reach its limit of connections, and never exceed it', async () => {
    lab.downloader = make({}, { concurrencyPerHost: 3 });
    lab.origin.script('/a', slowly(text, 2, 10));
    await Promise.all(Array.from({ length: 20 }, () => get('/a')));
    expect(lab.origin.peak).toBe(3);
  });

  test('never wait for another organization’s', async () => {
    lab.downloader = make({}, { concurrency: 1, concurrencyPerHost: 1, timeoutSeconds: 60 });
    lab.origin.script('/hang', hang());
    lab.origin.serve('/b', text);
    const controller = new AbortController();
    const held = [0, 1].map(() => get('/hang', { signal: controller.signal }));
    await eventually(() => expect(lab.origin.requests('/hang')).toBe(1));
    expect(await get('/b', { organizationId: 'b' })).toMatchObject({ stored: text });
    controller.abort(new Error('enough'));
    for (const download of held) await expect(download).rejects.toThrow('enough');
  });

  test('all succeed at a host that takes only six at once and answers 429 to the others', async () => {
    lab.downloader = make({ pause: 'real' }, { concurrencyPerHost: 16 });
    let taken = 0;
    lab.origin.script('/a', async (...exchange) => {
      if (taken === 6) return answer(429)(...exchange);
      taken += 1;
      await slowly(text, 2, 10)(...exchange);
      taken -= 1;
    });
    const results = await Promise.all(Array.from({ length: 60 }, () => get('/a')));
    expect(results.every((result) => result.modified)).toBe(true);
  });

  test('do not delay other hosts', async () => {
    const [, port] = lab.origin.host.split(':');
    const [a, b] = [`a.test:${port}`, `b.test:${port}`];
    const settings = { concurrencyPerHost: 1, timeoutSeconds: 60, allowedPrivateHosts: [a, b] };
    lab.downloader = make({ lookup: resolveTo('127.0.0.1') }, settings);
    lab.origin.script('/hang', hang());
    lab.origin.serve('/b', text);
    const controller = new AbortController();
    const held = get('/hang', { url: `http://${a}/hang`, signal: controller.signal });
    expect(await get('/b', { url: `http://${b}/b` })).toMatchObject({ stored: text });
    controller.abort(new Error('enough'));
    await expect(held).rejects.toThrow('enough');
  });
});

describe('an abort', () => {
  const reason = new Error('no longer wanted');

  test.each<[string, Behavior]>([
    ['before a response', hang()],
    ['within a body', stalled(text, 10)],
    ['within a compressed body', stalled(gzipSync(text), 10, { 'content-encoding': 'gzip' })],
    ['before a retry', answer(503, { 'retry-after': '60' })],
  ])('%s ends the download at once with its reason, without another attempt', async (_title, behavior) => {
    lab.downloader = make({ pause: 'real' }, { concurrencyPerHost: 1, timeoutSeconds: 3600 });
    lab.origin.script('/a', behavior);
    const controller = new AbortController();
    const download = get('/a', { signal: controller.signal });
    await eventually(() => expect(lab.origin.requests('/a')).toBe(1));
    controller.abort(reason);
    await expect(download).rejects.toBe(reason);
    expect(lab.origin.requests('/a')).toBe(1);
    await eventually(() => expect(lab.origin.connections.open).toBeLessThanOrEqual(1));
  });

  test('ends an endless download, also of chunks that have already arrived', async () => {
    lab.origin.script('/a', stream());
    const controller = new AbortController();
    let size = 0;
    const onBytes = (count: number) => {
      size += count;
      if (size > 1024 ** 2) controller.abort(reason);
    };
    await expect(get('/a', { signal: controller.signal, maxBytes: Infinity, onBytes })).rejects.toBe(reason);
    await eventually(() => expect(lab.origin.connections.open).toBe(0));
  });

  test('ends the wait for a connection', async () => {
    lab.downloader = make({}, { concurrencyPerHost: 1 });
    lab.origin.script('/a', hang());
    const [first, second] = [new AbortController(), new AbortController()];
    const holding = get('/a', { signal: first.signal });
    const waiting = get('/b', { signal: second.signal });
    second.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    first.abort(reason);
    await expect(holding).rejects.toBe(reason);
    expect(lab.origin.requests('/b')).toBe(0);
  });

  test('before the download prevents any request', async () => {
    await expect(get('/a', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(lab.origin.log).toEqual([]);
  });
});
