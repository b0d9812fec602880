import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { savePlayerRelease } from '../../shared/models/player-release.ts';
import { digestSource, playerRelease } from '../../shared/player/player-release.ts';
import { ask, expectError } from '../support/answers.ts';
import { policyOf } from '../embed/embed-pages.ts';
import { useApi, useStarted } from '../support/use.ts';

const api = useApi();
const release = useStarted(playerRelease);

const plain = { 'accept-encoding': 'identity' };
const fileOf = (name: string, headers: Record<string, string> = plain, url = api.url) =>
  ask(`${url}/player/${release.name}/${name}`, { headers });

describe('files of the player', () => {
  test('are served in full, immutable, and to pages of every origin', async () => {
    const names = [...release.files.keys()].filter(
      (name) => /\.(js|css)$/.test(name) && !name.endsWith('.d.ts'),
    );
    expect(names).toEqual(expect.arrayContaining(['embed-page.js', 'player.css', 'player.js']));
    for (const name of names) {
      const { status, headers, body } = await fileOf(name);
      expect({ name, status }).toEqual({ name, status: 200 });
      expect(body.equals(release.files.get(name) ?? Buffer.alloc(0))).toBe(true);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': `text/${name.endsWith('.js') ? 'javascript' : 'css'}; charset=utf-8`,
        'cache-control': 'public, max-age=31536000, immutable',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      });
    }
  });

  test('are compressed for clients that accept it, with an ETag for each encoding', async () => {
    const bytes = release.files.get('player.js') ?? Buffer.alloc(0);
    const ways = [
      ['br', 'gzip, deflate, br'],
      ['gzip', 'gzip'],
      [null, 'identity'],
    ] as const;
    const etags = new Set<string | null>();
    for (const [encoding, accepted] of ways) {
      const { headers, body } = await fileOf('player.js', { 'accept-encoding': accepted });
      expect(headers.get('content-encoding')).toBe(encoding);
      // Decoded by fetch.
      expect(body.equals(bytes)).toBe(true);
      if (encoding !== null) expect(Number(headers.get('content-length'))).toBeLessThan(bytes.length / 2);
      etags.add(headers.get('etag'));
    }
    expect(etags.size).toBe(3);
  });

  test('get 304 for a matching ETag, and no body with HEAD', async () => {
    for (const accepted of ['br', 'identity']) {
      const etag = (await fileOf('player.css', { 'accept-encoding': accepted })).headers.get('etag') ?? '';
      const again = await fileOf('player.css', {
        'accept-encoding': accepted,
        'if-none-match': `"x", ${etag}`,
      });
      expect({ status: again.status, length: again.body.length }).toEqual({ status: 304, length: 0 });
      expect(again.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
    const head = await ask(`${api.url}/player/${release.name}/player.js`, { method: 'HEAD', headers: plain });
    expect(head.body.length).toBe(0);
    expect(Number(head.headers.get('content-length'))).toBe(release.files.get('player.js')?.length);
  });

  test('get 404 under another release or name; OPTIONS lists the methods', async () => {
    expectError(await ask(`${api.url}/player/0.0.0-00000000/player.js`), 404, 'File not found');
    for (const name of ['other.js', '..%2Fpackage.json', 'constructor', '__proto__', 'player.d.ts']) {
      expectError(await fileOf(name), 404, 'File not found');
    }
    const options = await ask(`${api.url}/player/${release.name}/player.js`, { method: 'OPTIONS' });
    expect({ status: options.status, allow: options.headers.get('allow') }).toEqual({
      status: 204,
      allow: 'GET, HEAD, OPTIONS',
    });
  });
});

test("the script for integrators' pages has a stable URL, and is revalidated after an hour", async () => {
  const answer = await ask(`${api.url}/embed.js`, { headers: plain });
  expect(answer.body.equals(release.files.get('embed.js') ?? Buffer.alloc(0))).toBe(true);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
  expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  const etag = answer.headers.get('etag') ?? '';
  const again = await ask(`${api.url}/embed.js`, { headers: { ...plain, 'if-none-match': etag } });
  expect(again.status).toBe(304);
});

/** Returns the digest of the script in a page, as a Content-Security-Policy names it. */
function hashOfScript(page: string): string {
  const [, script = ''] = /<script type="module">(.*?)<\/script>/s.exec(page) ?? [];
  return createHash('sha256').update(script).digest('base64');
}

describe('the frame document', () => {
  const expected = (
    own: string,
    files: string,
    page = release.files.get('frame.html'),
    widgetFrame = release.files.get('widget-frame.js') ?? '',
  ) => ({
    sandbox:
      'allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads allow-modals',
    'default-src': "'none'",
    'script-src': `${own} blob: 'sha256-${hashOfScript(String(page))}' ${digestSource(widgetFrame)}`,
    'style-src': `${own} 'unsafe-inline'`,
    'img-src': 'https: http: data: blob:',
    'media-src': 'https: http: data: blob:',
    'font-src': `${own} data:`,
    'connect-src': `${files} data: blob:`,
    'base-uri': "'none'",
    'form-action': "'none'",
  });

  test('can reach only files of lessons, and has no origin', async () => {
    const answer = await fileOf('frame.html');
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(policyOf(answer)).toStrictEqual(
      expected(`'self' ${api.url}`, `${api.url}/content/ ${api.url}/assets/`),
    );
  });

  test('served for another release may run that release’s script', async () => {
    const page = Buffer.from('<script type="module">other()</script>');
    const widgetFrame = Buffer.from('another()');
    const files = new Map([
      ['frame.html', page],
      ['widget-frame.js', widgetFrame],
    ]);
    await savePlayerRelease(api.db, { name: '0.2.0-12345678', files });
    const answer = await ask(`${api.url}/player/0.2.0-12345678/frame.html`);
    expect(policyOf(answer)).toStrictEqual(
      expected(`'self' ${api.url}`, `${api.url}/content/ ${api.url}/assets/`, page, widgetFrame),
    );
  });

  test('is complete: it loads no script and no stylesheet', () => {
    const page = String(release.files.get('frame.html'));
    expect(page.match(/<(link|style|script)\b[^>]*>/g)).toEqual(['<style>', '<script type="module">']);
  });

  test('can reach them only at the public URL, if one is set', async () => {
    const url = 'https://lessons.example/lectern';
    const named = await api.startApi({ PUBLIC_URL: url });
    expect(policyOf(await fileOf('frame.html', plain, named))).toStrictEqual(
      expected(`'self' https://lessons.example`, `${url}/content/ ${url}/assets/`),
    );
  });
});
