import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { packageRoot } from '../../shared/platform/paths.ts';
import { codeOf } from '../../shared/platform/errors.ts';
import { waitFor } from './wait-for.ts';

const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');

const compileMilliseconds = 120_000;

/**
 * Compiles Lectern into `dist/`, once per test run. Processes start twice as fast from there as from sources, and run
 * what installations run.
 *
 * @param module such as cli/main
 * @returns the path of the compiled module
 */
export async function compiled(module: string): Promise<string> {
  const claim = join(inject('runDir'), 'compiled');
  const done = join(claim, 'done');
  try {
    await mkdir(claim);
    // An older build may have left folders that releases no longer contain.
    await rm(join(packageRoot, 'dist', 'simulator'), { recursive: true, force: true });
    // Types are checked elsewhere, so those of packages need not be read.
    const options = ['--project', 'tsconfig.build.json', '--noCheck', '--noResolve'];
    await promisify(execFile)(process.execPath, [compiler, ...options], { cwd: packageRoot });
    await writeFile(done, '');
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await waitFor('the compiled sources', () => existsSync(done), compileMilliseconds);
  }
  return join(packageRoot, 'dist', `${module}.js`);
}
