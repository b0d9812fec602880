import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { endpoints } from '../../api/app.ts';
import { gzippedBytes, maxGzippedBytes } from '../../clients/typescript/build.ts';
import { Lectern } from '../../clients/typescript/src/index.ts';
import { currentTypes } from '../../clients/typescript/write-types.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { useLesson } from '../player/player-lessons.ts';
import { useApi } from '../support/use.ts';
import { temporaryFolder } from '../support/folders.ts';

const api = useApi({}, { worker: true });
useLesson(api);
const folder = join(packageRoot, 'clients/typescript');

test('the types are those of the endpoints; `npm run types -w clients/typescript` writes them', async () => {
  expect(await readFile(join(folder, 'src/api.ts'), 'utf8')).toBe(await currentTypes());
});

test('the client calls every endpoint for API credentials', async () => {
  const called = new Set<string>();
  const fetch = (url: string, { method = '', headers }: RequestInit) => {
    called.add(`${method} ${new URL(url).pathname}`);
    const isFollowed = new Headers(headers).get('accept') === 'text/event-stream';
    const ended = 'data: {"status":"ready","endedAt":""}\n\n';
    return Promise.resolve(isFollowed ? new Response(ended) : Response.json({ nextCursor: null }));
  };
  const lectern = new Lectern({ url: api.url, credentials: api.credentials, fetch });
  const call = async (method: (...given: unknown[]) => unknown) => {
    const result = method('one', 'two', {}) as PromiseLike<unknown> & Partial<AsyncGenerator>;
    await (result.next === undefined ? result : result.next());
  };
  for (const resource of Object.values(lectern) as object[]) {
    // The results do not fit, so some methods fail after their request.
    for (const [name, method] of Object.entries(resource)) {
      // It requests what `stream` does, and writes a file.
      if (name !== 'download') await call(method as never).catch(() => undefined);
    }
  }
  const offered = endpoints.filter(
    ({ access, path }) =>
      access.security.some((one) => 'credentials' in one) && !path.startsWith('/api/lessons/imports'),
  );
  const missing = offered.filter(({ method, path }) => {
    const pattern = new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/:\w+/g, '[^/]+')}$`);
    return ![...called].some((one) => pattern.test(one));
  });
  expect(missing.map(({ operationId }) => operationId)).toEqual([]);
  expect(offered.length).toBeGreaterThan(35);
});

test('the module in the package has at most 8 kB, gzipped', async () => {
  expect(await gzippedBytes()).toBeLessThanOrEqual(maxGzippedBytes);
});

test('the packed package runs the quick start of its README', async () => {
  const home = await temporaryFolder();
  const run = promisify(execFile);
  await run('npm', ['pack', '-w', 'clients/typescript', '--pack-destination', home], { cwd: packageRoot });
  const [archive = ''] = await readdir(home);
  const installed = join(home, 'node_modules/@lectern/client');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(home, archive), '-C', installed, '--strip-components', '1']);
  expect((await readdir(installed)).toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const [, source = ''] = /^## Quick start$[^]*?^```js\n([^]*?)^```/m.exec(readme) ?? [];
  await writeFile(join(home, 'start.mjs'), source);
  const env = { ...process.env, LECTERN: api.url, CREDENTIALS: api.credentials };
  const { stdout } = await run(process.execPath, ['start.mjs'], { cwd: home, env });
  expect(stdout).toMatch(/\/embed\/[0-9a-f-]{36}\?token=ey/);
  expect(stdout).toMatch(/\.zip: \d+ bytes, verified/);
  // The types stand alone.
  await writeFile(
    join(home, 'types.mts'),
    `import { Lectern } from '@lectern/client';
    const lectern = new Lectern({ url: '', credentials: '' });
    export const slugs: string[] = (await lectern.lessons.list()).lessons.map(({ slug }) => slug);
    // @ts-expect-error -- no such status
    lectern.lessons.list({ status: 'nonsense' });`,
  );
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'] },
    ...{ types: [], strict: true, noEmit: true },
  };
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.mts'] }));
  await run(process.execPath, [join(packageRoot, 'node_modules/typescript/bin/tsc'), '-p', home]);
}, 240_000);
