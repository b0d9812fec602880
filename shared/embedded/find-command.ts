import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The full path of a command on PATH, or undefined. The shell is asked, as it knows PATH best. */
export async function findCommand(name: string): Promise<string | undefined> {
  try {
    const { stdout } = await run('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', name]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The version that `binary --version` names ("7.0.28"), or undefined for one that does not run here. */
export async function versionOf(binary: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(binary, ['--version'], { timeout: 20_000 });
    return /\d+\.\d+\.\d+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}
