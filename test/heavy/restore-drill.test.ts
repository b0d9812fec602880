import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { shellBlocks } from '../support/shell-blocks.ts';
import { commandsOf, fill, lookAt, startInstallation } from './installation.ts';
import { temporaryFolder } from '../support/folders.ts';

test('the commands in docs/operate/backup.md restore an installation with embedded servers after the loss of its data', async () => {
  const folder = await temporaryFolder();
  const dataDir = join(folder, '.lectern');
  const environment = { LECTERN_DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };
  const run = commandsOf(environment);
  const [backup = '', restore = ''] = await shellBlocks(
    'docs/operate/backup.md',
    '## With the embedded servers',
  );
  const shell = (commands: string) =>
    promisify(execFile)('bash', ['-c', `set -e\n${commands}`], { cwd: folder });

  const first = await startInstallation(environment);
  const known = await fill(first.address, run);
  const before = await lookAt(first.address, run, known);
  await first.stop();
  await shell(backup);

  // The loss, and a new installation in its place, without the old data.
  await rm(dataDir, { recursive: true });
  const empty = await startInstallation(environment);
  const denied = await fetch(`${empty.address}/api/lessons`, {
    headers: { authorization: `Bearer ${known.credentials}` },
  });
  expect(denied.status).toBe(401);
  await empty.stop();

  await shell(restore);
  const second = await startInstallation(environment);
  expect(await lookAt(second.address, run, known)).toEqual(before);
  await second.stop();
}, 600_000);
