import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildConsole } from '../../console/build.ts';
import { ask } from '../support/answers.ts';
import { temporaryFolder } from '../support/folders.ts';
import { useApi } from '../support/use.ts';

const api = useApi();

/** The gzipped size of the JavaScript that a page loads. */
const maxBytes = 45_000;

/** Returns the names of the files that a page loads: those it names, and all that they import statically. */
async function loadedBy(first: readonly string[]): Promise<Map<string, Buffer>> {
  const loaded = new Map<string, Buffer>();
  const waiting = [...first];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (loaded.has(name)) continue;
    const { body } = await ask(`${api.url}/console/files/${name}`);
    loaded.set(name, body);
    waiting.push(
      ...[...body.toString().matchAll(/(?:from|import)"\.\/([\w.-]+)"/g)].map(([, other = '']) => other),
    );
  }
  return loaded;
}

test('the page of every path loads only files of the console, under a policy without inline code', async () => {
  for (const path of ['/console', '/console/', '/console/lessons/any?status=draft']) {
    const { status, headers, body } = await ask(api.url + path);
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    });
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain(`script-src ${api.url}/console/files/; style-src 'self'`);
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    const page = body.toString();
    expect(page).not.toMatch(/<style|<script>| style=| on\w+=/);
    const urls = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url);
    expect(urls.length).toBeGreaterThan(3);
    for (const url of urls) expect(url).toMatch(/^\/(console\/files\/[\w.-]+|favicon\.svg)$/);
  }
});

test('files are cached for good, because their names contain a hash of their contents', async () => {
  const page = (await ask(`${api.url}/console`)).body.toString();
  const [, script = ''] = /src="([^"]+)"/.exec(page) ?? [];
  const { headers } = await ask(api.url + script);
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const missing = await ask(`${api.url}/console/files/entry.json`);
  expect(missing.status).toBe(404);
  const [first, second] = [await temporaryFolder(), await temporaryFolder()];
  expect(await buildConsole(first)).toEqual(await buildConsole(second));
  for (const name of await readdir(first))
    expect(await readFile(join(first, name)), name).toEqual(await readFile(join(second, name)));
});

test(`each page loads at most ${maxBytes / 1000} kB of JavaScript, gzipped`, async () => {
  const page = (await ask(`${api.url}/console`)).body.toString();
  const [, main = ''] = /src="\/console\/files\/([^"]+)"/.exec(page) ?? [];
  const shell = [...(await loadedBy([main])).values()].join('\n');
  const pages = [...shell.matchAll(/import\("\.\/(view-[\w-]+\.js)"\)/g)].map(([, name = '']) => name);
  const sizes = await Promise.all(
    pages.map(async (name) => {
      const all = await loadedBy([main, name]);
      return [...all.values()].reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0);
    }),
  );
  expect(sizes.length).toBeGreaterThan(3);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(maxBytes);
});

test('behind a path, it runs scripts of its folder there, and of no other folder of the origin', async () => {
  const behind = await api.startApi({ PUBLIC_URL: 'https://lectern.example/lectern' });
  const { headers, body } = await ask(`${behind}/console`);
  const folders = ['https://lectern.example', behind].map((origin) => `${origin}/lectern/console/files/`);
  expect(headers.get('content-security-policy')).toContain(`script-src ${folders.join(' ')};`);
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(body.toString()).toContain('src="/lectern/console/files/main-');
});

test('CONSOLE=0 serves no console, and the start page does not link to it', async () => {
  const without = await api.startApi({ CONSOLE: '0' });
  expect((await ask(`${without}/console`)).status).toBe(404);
  const startPage = async (url: string) =>
    (await ask(`${url}/`, { headers: { accept: 'text/html' } })).body.toString();
  expect(await startPage(without)).not.toContain('/console');
  expect(await startPage(api.url)).toContain('href="/console"');
});
