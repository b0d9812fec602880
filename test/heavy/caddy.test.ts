import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../../shared/embedded/child-process.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { findDebianProgram } from '../support/debian-programs.ts';
import {
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
const caddyfile = join(packageRoot, 'deploy', 'caddy', 'Caddyfile');
const caddy = await findDebianProgram('caddy', inject('cacheDir'));

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: Buffer;
}

/** Runs Caddy with the project's file in front of a server; it signs its own certificates. */
async function startCaddy(port: number, upstream: string) {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-caddy-'));
  const config = join(folder, 'Caddyfile');
  // A test may not take port 80, open an admin port, or change the machine's trusted certificates.
  const options = `{\n\tadmin off\n\tskip_install_trust\n\thttp_port ${await freePort()}\n`;
  await writeFile(config, (await readFile(caddyfile, 'utf8')).replace(/^\{\n/m, options));
  const env = {
    ...process.env,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    PUBLIC_URL: `https://localhost:${port}`,
    LECTERN_API: upstream,
  };
  const child = spawn(caddy ?? '', ['run', '--config', config, '--adapter', 'caddyfile'], { env });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  const root = join(folder, 'caddy', 'pki', 'authorities', 'local', 'root.crt');
  await waitFor('Caddy', () => existsSync(root) && log.includes('certificate obtained'), 60_000);
  const ca = await readFile(root);
  return {
    log: () => log,
    ask: (path: string, headers: Record<string, string> = {}) =>
      new Promise<Answer>((resolve, reject) => {
        request({
          host: '127.0.0.1',
          servername: 'localhost',
          port,
          path,
          ca,
          headers: { host: `localhost:${port}`, ...headers },
        })
          .once('response', (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject);
            response.once('end', () => {
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                body: Buffer.concat(chunks),
              });
            });
          })
          .once('error', reject)
          .end();
      }),
  };
}

describe.skipIf(caddy === null)('deploy/caddy/Caddyfile', () => {
  test('is valid, formatted, and waits for an archive longer than EXPORT_WAIT_SECONDS may be', async () => {
    const args = ['--config', caddyfile, '--adapter', 'caddyfile'];
    const { stdout } = await run(caddy ?? '', ['adapt', ...args]);
    await run(caddy ?? '', ['validate', ...args]);
    expect((await run(caddy ?? '', ['fmt', caddyfile])).stdout).toBe(await readFile(caddyfile, 'utf8'));
    const [, nanoseconds = '0'] = /"response_header_timeout":(\d+)/.exec(stdout) ?? [];
    expect(Number(nanoseconds) / 1e9).toBeGreaterThan(3600);
  });

  test('serves pages, archives and event streams over HTTPS', async () => {
    const port = await freePort();
    const harness = await startHarness();
    onTestFinished(() => harness.close());
    const settings = { PUBLIC_URL: `https://localhost:${port}`, TRUST_PROXY: '1' };
    const api = new URL(await harness.startApi(settings));
    await harness.startWorker();
    const { organization, headers } = await buildOrganization(harness);
    const version = await buildVersion(harness, organization, (await buildPackage()).path);
    const { ask } = await startCaddy(port, api.host);

    const page = await ask(`/embed/${version.lessonId}?token=${buildLearnerToken(version)}`);
    expect(page).toMatchObject({
      status: 200,
      headers: { 'strict-transport-security': expect.any(String) as string },
    });
    const archive = await ask(exportPath(version), headers);
    expect(archive).toMatchObject({ status: 200, headers: { 'content-type': 'application/zip' } });
    expect(String(archive.body.length)).toBe(archive.headers['content-length']);
    const status = exportPath(version).replace('export-zip', 'export-status');
    const events = await ask(status, { ...headers, accept: 'text/event-stream' });
    expect(events.body.toString()).toContain('"status":"ready"');
  });

  test('overwrites the forwarded headers that a client sends', async () => {
    const port = await freePort();
    const server = createServer((incoming, response) => response.end(JSON.stringify(incoming.headers)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { ask } = await startCaddy(port, `127.0.0.1:${(server.address() as AddressInfo).port}`);
    const forged = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      'x-forwarded-for': '9.9.9.9',
    };
    expect(JSON.parse((await ask('/', forged)).body.toString())).toMatchObject({
      'x-forwarded-host': `localhost:${port}`,
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '127.0.0.1',
    });
  });

  test('logs failed requests without the tokens and signatures in their URLs', async () => {
    const { ask, log } = await startCaddy(await freePort(), `127.0.0.1:${await freePort()}`);
    for (const path of [
      '/embed/a?token=planted-secret&x=1',
      '/assets/v1/a?expires=1&signature=planted-secret',
      '/content/v1/a/b/1/planted-secret/media/c',
    ]) {
      expect((await ask(path, { authorization: 'Bearer planted-secret' })).status).toBe(502);
    }
    await waitFor('the log', () => log().includes('/content/v1/a/b/1/-/media/c'));
    expect(log()).toContain('/embed/a?token=-&x=1');
    expect(log()).not.toContain('planted-secret');
  });
});
