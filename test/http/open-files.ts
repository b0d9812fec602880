import { existsSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

const folder = '/proc/self/fd';

/** Whether this machine lists the open files of a process. */
export const canCountFiles = existsSync(folder);

/** Returns the files below a folder that this process has open; the harness runs its API in this process. */
export async function openFiles(root: string): Promise<string[]> {
  const targets = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(root));
}
