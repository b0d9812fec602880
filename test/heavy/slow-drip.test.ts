import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { png } from '../exports/pictures.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import type { Behavior } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { printFigure } from './measure.ts';

/** Sends a large file a few bytes at a time, while the client listens. */
const drip: Behavior = async (_request, response) => {
  response.writeHead(200, { 'content-length': 100_000_000, 'content-type': 'image/png' });
  response.write(png(1));
  while (!response.destroyed) {
    await delay(2_000);
    response.write('drip');
  }
};

/** Starts an installation, an origin that drips, and a fast one. */
async function startLab(settings: Record<string, string> = {}) {
  const [slow, quick] = await Promise.all([startOrigin(), startOrigin()]);
  onTestFinished(async () => {
    await Promise.all([slow.close(), quick.close()]);
  });
  const allowed = { LECTERN_ALLOWED_PRIVATE_HOSTS: `${slow.host},${quick.host}` };
  const harness = await startHarness({ ...allowed, ...settings });
  onTestFinished(() => harness.close());
  const publish = async (tenant: Awaited<ReturnType<typeof buildOrganization>>, sources: string[]) => {
    const built = await buildPackage({ media: sources.map((sourceUrl) => ({ sourceUrl })) });
    return { version: await buildVersion(harness, tenant.organization, built.path), ids: built.mediaIds };
  };
  return { slow, quick, harness, publish };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

test('an organization gets its export within a minute while another exports three lessons from a dripping source', async () => {
  const { slow, quick, harness, publish } = await startLab();
  const [api] = await Promise.all([spawnApi(harness), spawnWorker(harness)]);
  const [hostile, other] = [await buildOrganization(harness), await buildOrganization(harness)];
  const stopAsking = new AbortController();
  for (const name of ['a', 'b', 'c']) {
    slow.script(`/${name}.png`, drip);
    const { version } = await publish(hostile, [slow.url(`/${name}.png`)]);
    const { headers } = hostile;
    fetch(api.address + exportPath(version), { headers, signal: stopAsking.signal }).catch(() => undefined);
  }
  await waitFor('both slots to be taken', () => slow.log.length >= 2, 30_000);
  quick.serve('/good.png', png(2));
  const { version } = await publish(other, [quick.url('/good.png')]);
  const seconds = await secondsOf(async () => {
    const answer = await fetch(api.address + exportPath(version), { headers: other.headers });
    expect(answer.status).toBe(200);
  });
  stopAsking.abort();
  printFigure('an export beside three that drip', { seconds });
  expect(seconds).toBeLessThan(60);
});
