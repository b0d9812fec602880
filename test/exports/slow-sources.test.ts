import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { hang, slowly, startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { downloadExport, mediaPaths } from './exports.ts';
import type { Export } from './exports.ts';
import { png } from './pictures.ts';

let [slow, quick]: Origin[] = [];
let harness: Harness;
beforeAll(async () => {
  [slow, quick] = await Promise.all([startOrigin(), startOrigin()]);
  quick.serve('/good.png', png(1));
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: `${slow.host},${quick.host}` });
});
afterAll(async () => {
  await harness.close();
  await Promise.all([slow?.close(), quick?.close()]);
});

/** Exports a lesson with some media and one good file, with a worker that has its own settings. */
async function exportWith(settings: Record<string, string>, paths: string[]): Promise<Export> {
  const [api, worker] = await Promise.all([harness.startApi(), harness.startWorker(settings)]);
  const { organization, headers } = await buildOrganization(harness);
  const sources = [...paths.map((path) => slow?.url(path)), quick?.url('/good.png')];
  const built = await buildPackage({ media: sources.map((sourceUrl = '') => ({ sourceUrl })) });
  const version = await buildVersion(harness, organization, built.path);
  const exported = await downloadExport(api, version, headers);
  expect(mediaPaths(exported)).toEqual([`media/${built.mediaIds.at(-1)}.png`]);
  await worker();
  return exported;
}

const failuresOf = ({ manifest }: Export) => manifest.failedMedia.map(({ reason }) => reason);

test('a build stops waiting for slow downloads after its timeout, and delivers the files that arrived', async () => {
  slow?.script('/drip.png', slowly(png(2), 10_000, 100));
  const settings = { EXPORT_BUILD_SECONDS: '6', DOWNLOAD_MIN_BYTES_PER_SECOND: '0' };
  expect(failuresOf(await exportWith(settings, ['/drip.png']))).toEqual(['timeout']);
});

test('after consecutive timeouts of a host, the build sends it no more requests', async () => {
  const paths = Array.from({ length: 60 }, (_, index) => `/${index}.png`);
  for (const path of paths) slow?.script(path, hang());
  const exported = await exportWith({ DOWNLOAD_DEADLINE_SECONDS: '1' }, paths);
  expect(failuresOf(exported)).toEqual(paths.map(() => 'timeout'));
  expect(paths.filter((path) => slow?.requests(path) === 0).length).toBeGreaterThan(40);
});
