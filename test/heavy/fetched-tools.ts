import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { withFetchFolder } from '../../shared/embedded/fetch-folder.ts';
import { messageOf } from '../../shared/platform/errors.ts';

const run = promisify(execFile);

/** Two LTI tools that others wrote, as npm has them. */
const versions = { ltijs: '5.9.9', '@lti-tool/core': '1.0.6' };

const fetchMilliseconds = 4 * 60_000;

/** Modules of the tools, for `require` and `import`. */
export interface FetchedTools {
  ltijs: string;
  ltiToolCore: string;
}

/**
 * Fetches the tools from npm once, with what they depend on; they are kept in the user's cache, and are no
 * dependencies of Lectern. None of their scripts run.
 *
 * @returns null where they cannot be had, which is said
 */
export async function fetchTools(cacheDir: string): Promise<FetchedTools | null> {
  const kept = join(cacheDir, `lti-tools-${Object.values(versions).join('-')}`);
  try {
    if (!existsSync(kept)) await installInto(kept, cacheDir);
    return { ltijs: join(kept, 'node_modules', 'ltijs'), ltiToolCore: join(kept, 'lti-tool-core.mjs') };
  } catch (error) {
    process.stderr.write(`\nNOT RUN: the LTI tools cannot be fetched from npm: ${messageOf(error)}\n\n`);
    return null;
  }
}

async function installInto(target: string, cacheDir: string): Promise<void> {
  await withFetchFolder(cacheDir, async (folder) => {
    const attempt = join(folder, 'tools');
    const manifest = JSON.stringify({ private: true, dependencies: versions });
    await mkdir(attempt);
    await writeFile(join(attempt, 'package.json'), manifest);
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    await run('npm', ['install', ...options], { cwd: attempt, timeout: fetchMilliseconds });
    // Its modules name each other in a way that only bundlers understand.
    await build({
      entryPoints: [join(attempt, 'node_modules', '@lti-tool', 'core')],
      outfile: join(attempt, 'lti-tool-core.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
    await rename(attempt, target).catch((error: unknown) => {
      // Another process was first, which is as good.
      if (!existsSync(target)) throw error;
    });
  });
}
