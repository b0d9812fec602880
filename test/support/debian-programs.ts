import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand } from '../../shared/embedded/child-process.ts';
import { withFetchFolder } from '../../shared/embedded/find-mongod.ts';
import { messageOf } from '../../shared/platform/errors.ts';

const run = promisify(execFile);

/** Where Debian's packages have these programs. Some need libraries of other packages. */
const programs = {
  caddy: { path: 'usr/bin/caddy', packages: ['caddy'] },
  nginx: { path: 'usr/sbin/nginx', packages: ['nginx'] },
  promtool: { path: 'usr/bin/promtool', packages: ['prometheus'] },
  'redis-server': {
    path: 'usr/bin/redis-server',
    packages: ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'],
  },
} as const;

/**
 * Returns the path of a program: the installed one, else Debian's, which stays in the user's cache. Null, with a message
 * on stderr, if neither is available.
 */
export async function findDebianProgram(
  name: keyof typeof programs,
  cacheDir: string,
): Promise<string | null> {
  const installed = await findCommand(name);
  if (installed !== undefined) return installed;
  const kept = join(cacheDir, `${name}-debian`);
  const { path, packages } = programs[name];
  const program = join(kept, path);
  if (existsSync(program)) return program;
  try {
    await withFetchFolder(cacheDir, async (folder) => {
      await run('apt-get', ['download', ...packages], { cwd: folder, timeout: 120_000 });
      for (const file of await readdir(folder))
        await run('dpkg-deb', ['--extract', file, name], { cwd: folder });
      await rename(join(folder, name), kept);
    });
    return program;
  } catch (error) {
    const reason = `${name} is not installed, and Debian's package cannot be fetched: ${messageOf(error)}`;
    process.stderr.write(`\nNOT RUN: ${reason}\n\n`);
    return null;
  }
}
