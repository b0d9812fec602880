import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);

/** A temporary virtual environment of Python. */
export type PythonEnvironment = Awaited<ReturnType<typeof installFromPyPI>>;

/** Whether Python can make virtual environments. */
export async function hasPython(): Promise<boolean> {
  try {
    await run('python3', ['-c', 'import sys, venv, ensurepip; assert sys.version_info >= (3, 10)']);
    return true;
  } catch {
    return false;
  }
}

/** Installs releases from PyPI into a new folder. @param requirements such as `schemathesis==4.32.5`. */
export async function installFromPyPI(...requirements: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-python-'));
  /** Returns the path of an installed program. */
  const program = (name: string) => join(folder, 'bin', name);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await run('python3', ['-m', 'venv', folder]);
    const options = ['--quiet', '--disable-pip-version-check'];
    await run(program('pip'), ['install', ...options, ...requirements]);
  } catch (error) {
    await remove();
    const what = requirements.join(', ');
    throw new Error(`Cannot install ${what}; this needs PyPI, or a mirror in pip's configuration`, {
      cause: error,
    });
  }
  return { program, remove };
}
