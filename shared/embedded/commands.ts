import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { entryPoint } from '../platform/paths.ts';

const run = promisify(execFile);

/** Returns the full path of a command on PATH, or undefined. Asks the shell, which implements PATH. */
export async function findCommand(name: string): Promise<string | undefined> {
  try {
    const { stdout } = await run('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', name]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Returns the version in the output of `binary --version`, such as "7.0.28"; undefined if it does not run here. */
export async function versionOf(binary: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(binary, ['--version'], { timeout: 20_000 });
    return /\d+\.\d+\.\d+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}

/**
 * Returns the arguments with which `node` runs another file of this folder. Sources need the loader of this process, by
 * its full path, because the new process may have another working directory. Other flags of this process (--inspect,
 * memory limits) are not passed on.
 */
export function nodeArguments(sibling: string): string[] {
  const file = entryPoint(`shared/embedded/${sibling}`);
  if (!file.endsWith('.ts')) return [file];
  const loader = createRequire(import.meta.url).resolve('tsx');
  return ['--import', pathToFileURL(loader).href, file];
}
