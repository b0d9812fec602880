import { randomBytes } from 'node:crypto';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../../shared/embedded/child-process.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { storeAsset } from '../media/store-asset.ts';
import { findCommand } from '../../shared/embedded/child-process.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { findDebianProgram } from '../support/debian-programs.ts';
import { temporaryFolder } from '../support/folders.ts';
import { exampleConfig, startNginx } from '../support/nginx.ts';
import type { Nginx } from '../support/nginx.ts';
import { useApi, useStarted } from '../support/use.ts';
import { comparable, exportArchive, requestsFor } from './proxied-requests.ts';
import { waitFor } from '../support/wait-for.ts';

const api = useApi({ TRUST_PROXY: '1', SENDFILE_HEADER: 'X-Accel-Redirect' }, { worker: true });
const programs = {
  nginx: await findDebianProgram('nginx', inject('cacheDir')),
  caddy: await findDebianProgram('caddy', inject('cacheDir')),
};

let archive: string;
let asset: string;
let whole: Answer;
let etag: string;

beforeAll(async () => {
  ({ archive, whole, etag } = await exportArchive(api));
  asset = (await storeAsset(api, randomBytes(5_000), { mimeType: 'application/pdf', fileName: 'a.pdf' }))
    .path;
});

const get = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(url, { method, headers: { ...api.headers, ...headers } });

const proxied = { 'x-forwarded-for': '192.0.2.1' };

test('the proxy gets the path of the file in the store', async () => {
  const { status, headers, body } = await get(api.url + archive, proxied);
  const [, path = ''] = /^\/lectern-files\/(archives\/.+)$/.exec(headers.get('x-accel-redirect') ?? '') ?? [];
  expect([status, body.length]).toEqual([200, 0]);
  expect((await readFile(join(api.config.storeDir, 'v1', path))).equals(whole.body)).toBe(true);
});

test('with X-Sendfile, the proxy gets the absolute path', async () => {
  const url = await api.startApi({ SENDFILE_HEADER: 'X-Sendfile' });
  const path = (await get(url + archive, proxied)).headers.get('x-sendfile') ?? '';
  expect((await readFile(path)).equals(whole.body)).toBe(true);
});

test.each([
  ['without the setting, whatever headers it has', {}],
  ['that came through no proxy', { TRUST_PROXY: '1', SENDFILE_HEADER: 'X-Accel-Redirect' }],
])('a request %s gets the bytes, and no path', async (_, settings) => {
  const url = await api.startApi({ TRUST_PROXY: '0', SENDFILE_HEADER: '', ...settings });
  const asked = { 'x-sendfile-type': 'X-Accel-Redirect', 'x-accel-redirect': '/', 'x-sendfile': '/' };
  const headers = 'SENDFILE_HEADER' in settings ? asked : { ...asked, ...proxied };
  const answer = await get(url + archive, headers);
  expect(answer.body.equals(whole.body)).toBe(true);
  expect([...answer.headers.keys()].filter((name) => /accel|sendfile/.test(name))).toEqual([]);
});

/** Starts Caddy with the site of deploy/caddy/Caddyfile; over HTTPS, with a certificate that it signs itself. */
async function startCaddy(program: string, scheme: 'http' | 'https' = 'http'): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-caddy-'));
  const config = join(folder, 'Caddyfile');
  const url = `${scheme}://localhost:${await freePort()}`;
  const example = await readFile(join(packageRoot, 'deploy', 'caddy', 'Caddyfile'), 'utf8');
  const marked = example.replace('file_server\n', 'header X-Sent-By proxy\n\t\t\tfile_server\n');
  const options = 'admin off\n\tskip_install_trust\n\tauto_https disable_redirects\n';
  await writeFile(config, marked.replace(/^\{\n/m, `{\n\t${options}`));
  const LECTERN_FILES = join(api.config.storeDir, 'v1');
  const child = spawn(program, ['run', '--config', config, '--adapter', 'caddyfile'], {
    env: {
      ...{ XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      ...{ PUBLIC_URL: url, LECTERN_API: new URL(api.url).host, LECTERN_FILES },
    },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const { hostname, port } = new URL(url);
  await waitFor('Caddy', () => accepts(Number(port), hostname, scheme));
  return {
    url,
    async stop() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns whether a server accepts connections; over HTTPS, it has its certificate only some time after the port. */
function accepts(port: number, host: string, scheme: 'http' | 'https'): Promise<boolean> {
  return new Promise((resolve) => {
    const target = { port, host, servername: host, rejectUnauthorized: false };
    const socket = scheme === 'https' ? connectTls(target) : connect(target);
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once(scheme === 'https' ? 'secureConnect' : 'connect', () => {
      resolve(true);
      socket.destroy();
    });
  });
}

const starts = {
  nginx: (program: string) =>
    startNginx(program, async (port) => {
      const example = await exampleConfig(port, { api: api.url, storeDir: api.config.storeDir });
      return example.replace('etag off;', 'etag off;\n    add_header X-Sent-By proxy;');
    }),
  caddy: startCaddy,
};

describe.each(['nginx', 'caddy'] as const)('deploy/%s', (name) => {
  const program = programs[name];
  const proxy = useStarted(
    async () => (program === null ? { url: '', stop: () => Promise.resolve() } : starts[name](program)),
    (started) => started.stop(),
  );

  test.skipIf(program === null).each(requestsFor(() => etag))(
    'a request for %s gets the same through the proxy as without it',
    async (_, given, isProxied, method) => {
      const headers = { 'x-request-id': 'one', ...(typeof given === 'function' ? given() : given) };
      const direct = await get(api.url + archive, headers, method);
      const proxied = await get(proxy.url + archive, headers, method);
      expect(comparable(proxied)).toEqual(comparable(direct));
      expect(proxied.headers.get('x-sent-by')).toBe(isProxied ? 'proxy' : null);
    },
  );

  test.skipIf(program === null)('files of the store keep their headers, too', async () => {
    for (const range of ['', 'bytes=0-99']) {
      const headers = { 'x-request-id': 'one', range };
      const proxied = await get(proxy.url + asset, headers);
      expect(comparable(proxied)).toEqual(comparable(await get(api.url + asset, headers)));
      expect(proxied.headers.get('x-sent-by')).toBe('proxy');
    }
  });

  test.skipIf(program === null)('clients cannot request the files', async () => {
    const path = (await get(api.url + archive, proxied)).headers.get('x-accel-redirect') ?? '';
    expect(path).toMatch(/^\/lectern-files\/archives\//);
    const answer = await get(proxy.url + path);
    expect([answer.status, answer.headers.get('x-sent-by')]).toEqual([404, null]);
  });
});

const curl = await findCommand('curl');

test.skipIf(programs.caddy === null || curl === undefined)(
  'Caddy sends files over HTTP/2, whose rules about headers are stricter',
  async () => {
    const caddy = await startCaddy(programs.caddy ?? '', 'https');
    onTestFinished(() => caddy.stop());
    const args = ['--insecure', '--http2', '--silent', '--show-error', '--include', '--header'];
    const request = [`Authorization: ${api.headers.authorization}`, caddy.url + archive];
    const options = { encoding: 'buffer', maxBuffer: 10_000_000 } as const;
    const { stdout } = await promisify(execFile)(curl ?? '', [...args, ...request], options);
    const end = stdout.indexOf('\r\n\r\n');
    const head = stdout.subarray(0, end).toString('latin1').toLowerCase();
    expect(head).toMatch(/^http\/2 200/);
    expect(head).toContain('x-sent-by: proxy');
    expect(stdout.subarray(end + 4).equals(whole.body)).toBe(true);
  },
);

test.skipIf(programs.nginx === null)(
  'while the API is down, nginx logs no token and no signature',
  async () => {
    const log = join(await temporaryFolder(), 'error.log');
    const nginx = await startNginx(programs.nginx ?? '', (port) =>
      exampleConfig(port, { api: 'http://127.0.0.1:1', storeDir: api.config.storeDir, errorLog: log }),
    );
    onTestFinished(() => nginx.stop());
    const paths = [
      '/embed/x?token=a-secret',
      '/content/v1/a/b/c/a-secret/file.png',
      `${archive}?token=a-secret`,
    ];
    for (const path of paths) expect((await ask(nginx.url + path)).status).toBe(502);
    expect(await readFile(log, 'utf8')).not.toContain('a-secret');
  },
);
