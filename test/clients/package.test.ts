import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { endpoints } from '../../api/app.ts';
import { gzippedBytes, maxGzippedBytes } from '../../clients/typescript/build.ts';
import { Lectern } from '../../clients/typescript/src/index.ts';
import { packClient } from '../../clients/typescript/pack.ts';
import { currentTypes } from '../../clients/typescript/write-types.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { useLesson } from '../player/player-lessons.ts';
import { ask } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { temporaryFolder } from '../support/folders.ts';

const api = useApi({}, { worker: true });
useLesson(api);
const folder = join(packageRoot, 'clients/typescript');

test('the types are those of the endpoints; `npm run types -w clients/typescript` writes them', async () => {
  for (const [path, source] of Object.entries(await currentTypes()))
    expect(await readFile(join(packageRoot, path), 'utf8')).toBe(source);
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

test('the package that the API serves installs into an empty folder and runs the quick start of its README', async () => {
  await packClient();
  const home = await temporaryFolder();
  const run = promisify(execFile);
  // No registry answers: the package has no dependencies.
  const offline = [
    '--registry=http://127.0.0.1:9',
    '--no-audit',
    '--no-fund',
    `--cache=${join(home, 'cache')}`,
  ];
  await writeFile(join(home, 'package.json'), '{}');
  await run('npm', ['install', `${api.url}/client.tgz`, ...offline], { cwd: home });
  const installed = join(home, 'node_modules/@lectern/client');
  expect((await readdir(installed)).toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const schema = await readFile(join(installed, 'dist/lesson.schema.json'), 'utf8');
  expect(schema).toBe((await ask(`${api.url}/schemas/lesson.json`)).body.toString());
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
    for await (const { versionNumber } of lectern.lessons.versions('id')) versionNumber.toFixed();
    export const { title }: { title: string } = await lectern.lessons.retrieve('id');
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
