import { existsSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

const folder = '/proc/self/fd';

/** Whether this machine tells what a process has open. */
export const canCountFiles = existsSync(folder);

/** The files below a folder that this process has open, the API of a harness being in it. */
export async function openFiles(root: string): Promise<string[]> {
  const targets = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(root));
}
