import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { follow, mediumPath } from '../player/player-files.ts';
import { png } from '../exports/pictures.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { file, startOrigin } from '../support/origin.ts';
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

test('a single organization uses all slots of a worker', async () => {
  const { quick, harness, publish } = await startLab();
  const tenant = await buildOrganization(harness);
  const api = await spawnApi(harness);
  const exportAll = async (round: string) => {
    const versions: LessonVersion[] = [];
    for (let lesson = 0; lesson < 12; lesson += 1) {
      const paths = Array.from({ length: 12 }, (_, index) => `/${round}-${lesson}-${index}.png`);
      for (const path of paths) {
        quick.script(path, async (...exchange) => {
          await delay(300);
          await file(png(3))(...exchange);
        });
      }
      versions.push(
        (
          await publish(
            tenant,
            paths.map((path) => quick.url(path)),
          )
        ).version,
      );
    }
    return secondsOf(() =>
      Promise.all(
        versions.map(async (version) => {
          const answer = await fetch(api.address + exportPath(version), { headers: tenant.headers });
          expect(answer.status).toBe(200);
          await answer.arrayBuffer();
        }),
      ),
    );
  };
  const seconds: number[] = [];
  for (const slots of ['1', '2']) {
    const worker = await spawnWorker(harness, {
      WORKER_CONCURRENCY: slots,
      DOWNLOAD_CONCURRENCY_PER_HOST: '64',
    });
    await exportAll(`warm-${slots}`);
    seconds.push(await exportAll(`measured-${slots}`));
    await worker.kill();
  }
  const [one = 0, two = 0] = seconds;
  printFigure('twelve exports of one organization', {
    'seconds with one slot': one,
    'seconds with two': two,
    ratio: one / two,
  });
  expect(one / two).toBeGreaterThan(1.2);
});

test('70 abandoned requests to a dripping source delay no other organization’s media', async () => {
  const { slow, quick, harness, publish } = await startLab();
  const api = await spawnApi(harness);
  const [hostile, other] = [await buildOrganization(harness), await buildOrganization(harness)];
  const paths = Array.from({ length: 70 }, (_, index) => `/${index}.png`);
  for (const path of paths) slow.script(path, drip);
  const lesson = await publish(
    hostile,
    paths.map((path) => slow.url(path)),
  );
  const leaving = new AbortController();
  const asked = lesson.ids.map((id) =>
    fetch(api.address + mediumPath(lesson.version, id), { signal: leaving.signal }).catch(() => undefined),
  );
  await waitFor('the source to be asked', () => slow.log.length >= 3, 30_000);
  leaving.abort();
  await Promise.all(asked);

  quick.serve('/good.png', png(4));
  slow.serve('/same-host.png', png(5));
  for (const source of [quick.url('/good.png'), slow.url('/same-host.png')]) {
    const { version, ids } = await publish(other, [source]);
    const seconds = await secondsOf(async () => {
      const answer = await follow(api.address, mediumPath(version, ids[0] ?? ''));
      expect(answer.status).toBe(200);
    });
    printFigure('a medium beside 70 abandoned requests', { seconds });
    expect(seconds).toBeLessThan(2);
  }
});
