import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../shared/embedded/child-process.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { waitFor } from './wait-for.ts';

export interface Nginx {
  /** Such as http://127.0.0.1:40123. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts nginx with one process per core.
 *
 * @param configure returns the content of `http { }` for a port of 127.0.0.1, except the settings of every server.
 */
export async function startNginx(
  program: string,
  configure: (port: number) => string | Promise<string>,
): Promise<Nginx> {
  const home = await mkdtemp(join(tmpdir(), 'lectern-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const config = join(home, 'nginx.conf');
  await writeFile(
    config,
    `${process.getuid?.() === 0 ? 'user root;\n' : ''}worker_processes auto;
daemon off;
pid ${home}/pid;
error_log ${home}/error.log;
events { worker_connections 768; }
http {
  default_type application/octet-stream;
  ${temporary.map((name) => `${name}_temp_path ${home}/${name};`).join('\n  ')}
  ${await configure(port)}
}
`,
  );
  // Before its configuration is read, nginx logs to a folder of the system.
  const child = spawn(program, ['-c', config, '-e', join(home, 'error.log')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGQUIT');
    await ended;
    await rm(home, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitFor('nginx', async () => {
      if (child.exitCode !== null) throw new Error(`nginx ended with exit code ${child.exitCode}`);
      return (await fetch(url).catch(() => null)) !== null;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

/**
 * Returns deploy/nginx/lectern.conf for a port of 127.0.0.1 without TLS, an API, and a store: a folder or a bucket.
 *
 * @param options.errorLog the path of the error log
 */
export async function exampleConfig(
  port: number,
  {
    api,
    errorLog = '/dev/null',
    ...store
  }: { api: string; errorLog?: string } & ({ storeDir: string } | { bucket: string }),
): Promise<string> {
  const example = await readExample('lectern.conf');
  const site = example
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace(/^ *ssl_certificate.*\n/gm, '')
    .replace(/^ *access_log .*$/m, '  access_log off;')
    .replace('/var/log/nginx/lectern-error.log', errorLog)
    .replace('server 127.0.0.1:3000;', `server ${new URL(api).host};`);
  if ('storeDir' in store) return site.replace('/var/lib/lectern/store/', `${store.storeDir}/`);
  const { host } = new URL(store.bucket);
  const location = (await readExample('lectern-bucket.conf'))
    .replace('_host s3.example.com;', `_host ${host};`)
    .replace('proxy_pass https:', 'proxy_pass http:')
    .replace(/^ *proxy_ssl_trusted_certificate.*\n/m, '');
  return site
    .replace(/^#(upstream lectern_bucket |}| {2}server | {2}keepalive )/gm, '$1')
    .replace('server s3.example.com:443;', `server ${host};`)
    .replace(/^ *#include .*$/m, () => location);
}

function readExample(name: string): Promise<string> {
  return readFile(join(packageRoot, 'deploy', 'nginx', name), 'utf8');
}
