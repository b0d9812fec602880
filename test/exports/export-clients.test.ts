import { get } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canCountFiles, openFiles } from '../http/open-files.ts';
import { exportPath } from '../support/factories.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useExportLab } from './lab.ts';
import { viewQueue } from './open-queue.ts';
import { pngWith } from './pictures.ts';

const lab = useExportLab();

const archiveBytes = 4 * 1024 ** 2;

/** A version whose archive is in the store. */
const stored = useStarted(async () => {
  const version = await lab.build(pngWith('picture'.repeat(archiveBytes / 7)));
  const endWorker = await lab.harness.startWorker();
  expect((await lab.get(version)).status).toBe(200);
  await endWorker();
  return version;
});

describe.runIf(canCountFiles)('no archive stays open', () => {
  const allClosed = () => {
    const folder = join(lab.harness.config.storeDir, 'v1', 'archives');
    return waitFor('the archives to be closed', async () => (await openFiles(folder)).length === 0);
  };

  test('when clients disconnect before their response, at any step of the server', async () => {
    for (let turns = 0; turns < 60; turns += 1) {
      const request = get(lab.api + exportPath(stored), { headers: lab.headers });
      request.on('error', () => undefined).on('response', (response) => response.resume());
      await new Promise((resolve) => request.once('finish', resolve));
      // Each client disconnects a little later.
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      request.destroy();
    }
    await lab.get(stored);
    await allClosed();
  });
});

test('a job continues after its client disconnects', async () => {
  const version = await lab.build();
  const queue = viewQueue(lab.harness);
  const leaving = new AbortController();
  const left = expect(lab.get(version, { signal: leaving.signal })).rejects.toThrow(/abort/);
  await waitFor('its job', async () => (await queue.state(version)) === 'prioritized');
  leaving.abort();
  await left;
  onTestFinished(await lab.harness.startWorker());
  await waitFor('the archive', async () => (await lab.statusOf(version)).status === 'ready');
});
