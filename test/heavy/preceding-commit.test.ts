import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../shared/platform/paths.ts';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { environmentOf } from '../support/s3-server.ts';
import { commandsOf, fill, lookAt, startInstallation } from './installation.ts';
import { temporaryFolder } from '../support/folders.ts';

const run = promisify(execFile);
const s3Server = useS3Server();

/** The commit whose data this one must support, such as "v0.1.0" or "HEAD~1". */
const commit = process.env.PRECEDING_COMMIT ?? '';

/**
 * Checks out the preceding commit and installs its packages. Returns its folder, and the command that starts its
 * `lectern`.
 */
async function checkOutPreceding(): Promise<{ tree: string; command: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-preceding-'));
  const tree = join(folder, 'tree');
  await run('git', ['worktree', 'add', '--detach', tree, commit], { cwd: packageRoot });
  onTestFinished(async () => {
    await run('git', ['worktree', 'remove', '--force', tree], { cwd: packageRoot });
    await rm(folder, { recursive: true, force: true });
  });
  // Its `prepare` script builds the player.
  await run('npm', ['ci'], { cwd: tree });
  const loader = join(tree, 'node_modules', 'tsx', 'dist', 'loader.mjs');
  return { tree, command: [process.execPath, '--import', loader, join(tree, 'cli', 'main.ts')] };
}

const stores = [
  { store: 'a folder', settings: () => Promise.resolve({}), missing: false },
  {
    store: s3Name,
    missing: s3Server === null,
    settings: async () => {
      const server = await s3Server?.();
      return server === undefined ? {} : environmentOf(server.settings);
    },
  },
];

describe.skipIf(commit === '')(
  `data of the preceding commit (PRECEDING_COMMIT=${commit || 'not set'})`,
  () => {
    test.each(stores.filter(({ missing }) => !missing))(
      'in a data directory and $store: archives, progress, credentials, tokens and platforms stay unchanged',
      async ({ settings }) => {
        const dataDir = await temporaryFolder();
        const environment = {
          LECTERN_DATA_DIR: dataDir,
          PORT: '0',
          LOG_LEVEL: 'warn',
          ...(await settings()),
        };
        const { tree, command } = await checkOutPreceding();
        const old = await startInstallation(environment, command);
        const runPreceding = commandsOf(environment, command);
        // Its own lesson: it may not know all widgets of the present one, so archives of that would be incomplete.
        const known = await fill(old.address, runPreceding, join(tree, 'demo', 'lesson'));
        const before = await lookAt(old.address, runPreceding, known);
        await old.stop();

        const now = await startInstallation(environment);
        expect(await lookAt(now.address, commandsOf(environment), known)).toEqual(before);
        const session = JSON.parse(before.session) as { versionId: string };
        const write = await fetch(
          `${now.address}/api/public/lessons/${known.lessonId}/session?token=${known.token}`,
          {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ ...session, currentSectionIndex: 0, currentStepIndex: 0 }, [
              'versionId',
              'currentSectionIndex',
              'currentStepIndex',
            ]),
          },
        );
        expect(write.status).toBe(200);
        await now.stop();
      },
      600_000,
    );
  },
);
