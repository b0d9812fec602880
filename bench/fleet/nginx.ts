import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../shared/embedded/server-process.ts';

export interface Nginx {
  /** Such as http://127.0.0.1:40123. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts Debian's nginx with its usual settings (sendfile, one process per core) for a folder. Null if it is not
 * installed.
 */
export async function startNginx(folder: string, files: string): Promise<Nginx | null> {
  const found = await promisify(execFile)('nginx', ['-v']).then(
    () => true,
    () => false,
  );
  if (!found) return null;
  const home = join(folder, 'nginx');
  await mkdir(home);
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  await writeFile(
    join(home, 'nginx.conf'),
    `user root;
worker_processes auto;
daemon off;
pid ${home}/pid;
error_log ${home}/error.log;
events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  access_log off;
  default_type application/zip;
  ${temporary.map((name) => `${name}_temp_path ${home}/${name};`).join('\n  ')}
  server { listen 127.0.0.1:${port}; root ${files}; }
}
`,
  );
  const child = spawn('nginx', ['-c', join(home, 'nginx.conf')], { stdio: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(url).catch(() => null))) {
    if (child.exitCode !== null) throw new Error(`nginx ended with exit code ${child.exitCode}`);
    await sleep(20);
  }
  return {
    url,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGQUIT');
      await ended;
    },
  };
}
