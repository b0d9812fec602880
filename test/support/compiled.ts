import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { compile } from '../../esbuild.config.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { codeOf } from '../../shared/platform/errors.ts';
import { waitFor } from './wait-for.ts';

const compileMilliseconds = 120_000;

/**
 * Compiles Lectern into `dist/`, once per test run. Processes start several times as fast from there as from sources,
 * and run what installations run.
 *
 * @param module such as cli/main
 * @returns the path of the compiled module
 */
export async function compiled(module: string): Promise<string> {
  const claim = join(inject('runDir'), 'compiled');
  const done = join(claim, 'done');
  try {
    await mkdir(claim);
    await compile();
    await writeFile(done, '');
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await waitFor('the compiled sources', () => existsSync(done), compileMilliseconds);
  }
  return join(packageRoot, 'dist', `${module}.js`);
}
