import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';

/** Creates a folder for the current test, which is removed after it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(inject('runDir'), 'folder-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
