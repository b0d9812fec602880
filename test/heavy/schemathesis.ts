import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const run = promisify(execFile);

/** The release that the figures are of; another one may check other things. */
const release = 'schemathesis==4.32.5';

/** Whether Python can make the virtual environment that {@link installSchemathesis} needs. */
export async function hasPython(): Promise<boolean> {
  try {
    await run('python3', ['-c', 'import sys, venv, ensurepip; assert sys.version_info >= (3, 10)']);
    return true;
  } catch {
    return false;
  }
}

/** Schemathesis, installed from PyPI into a folder of its own. */
export interface Schemathesis {
  program: string;
  remove(): Promise<void>;
}

export async function installSchemathesis(): Promise<Schemathesis> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-schemathesis-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', release]);
  } catch (error) {
    await remove();
    throw new Error(`${release} cannot be installed; it needs PyPI, or a mirror in pip's configuration`, {
      cause: error,
    });
  }
  return { program: join(folder, 'bin', 'schemathesis'), remove };
}

export interface SchemathesisRun {
  /** How it ended: 0 without a failure. */
  code: number | null;
  output: string;
  /** Requests that it thought of; those that repeat one of them are left out. */
  cases: number;
}

/** Runs it against an API's own document. @param config the text of its configuration file. */
export async function runSchemathesis(
  { program }: Pick<Schemathesis, 'program'>,
  address: string,
  config: string,
  options: string[],
): Promise<SchemathesisRun> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-schemathesis-run-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'schemathesis.toml'), config);
  // It finds the configuration in its folder, and would keep what it learns there.
  const child = spawn(program, ['run', `${address}/openapi.json`, '--no-color', ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output, cases: Number(/([\d,]+) generated/.exec(output)?.[1]?.replaceAll(',', '')) };
}
