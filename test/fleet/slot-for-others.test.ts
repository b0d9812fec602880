import { expect, onTestFinished, test } from 'vitest';
import { useExportLab } from '../exports/lab.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { ask } from '../support/answers.ts';
import { waitFor } from '../support/wait-for.ts';

const lab = useExportLab({ SHUTDOWN_SECONDS: '2' });

test("while one organization's slow builds hold all other slots of a worker, another's exports are built", async () => {
  const { twoBuilds, stop } = await holdWorker();
  const { organization, headers } = await buildOrganization(lab.harness);
  const version = await buildVersion(lab.harness, organization, (await buildPackage()).path);
  for (let round = 0; round < 3; round += 1) {
    // The slow builds do not end meanwhile.
    expect((await ask(lab.api + exportPath(version), { headers })).status).toBe(200);
    await lab.evict(version);
  }
  // The slot stays free for others, although the organization has further exports.
  await twoBuilds();
  await stop();
});

/** Starts a worker with default settings, and holds its slots with slow builds of one organization, while others wait. */
async function holdWorker() {
  const started = await Promise.all([1, 2, 3, 4].map(() => lab.buildHeld()));
  onTestFinished(() => {
    for (const { held } of started) held.release();
  });
  for (const { version } of started) await lab.begin(version);
  const stop = await lab.harness.startWorker();
  onTestFinished(stop);
  // A worker takes a job before it sees that the organization has no slot left.
  const twoBuilds = () =>
    waitFor('two builds', async () => {
      const statuses = await Promise.all(started.map(({ version }) => lab.statusOf(version)));
      return statuses.filter(({ status }) => status === 'building').length === 2;
    });
  await twoBuilds();
  return { twoBuilds, stop };
}
