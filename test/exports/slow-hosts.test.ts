import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { hang, slowly } from '../support/origin.ts';
import { useOrigin } from '../support/use.ts';
import { mediaPaths } from './exports.ts';
import type { Export } from './exports.ts';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';

const slow = useOrigin();
const lab = useExportLab(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: slow.host }));
beforeAll(() => lab.origin.serve('/good.png', png(1)));

/** Exports a lesson with some media of the slow origin and one good file, with a worker that has its own settings. */
async function exportWith(settings: Record<string, string>, paths: string[]): Promise<Export> {
  onTestFinished(await lab.harness.startWorker(settings));
  const sources = [...paths.map((path) => slow.url(path)), lab.origin.url('/good.png')];
  const exported = await lab.download(
    await lab.publish({ media: sources.map((sourceUrl) => ({ sourceUrl })) }),
  );
  expect(mediaPaths(exported)).toHaveLength(1);
  return exported;
}

const failuresOf = ({ manifest }: Export) => manifest.failedMedia.map(({ reason }) => reason);

test('a build stops waiting for slow downloads after its timeout, and delivers the files that arrived', async () => {
  slow.script('/drip.png', slowly(png(2), 20_000, 100));
  const settings = { EXPORT_BUILD_SECONDS: '12', DOWNLOAD_MIN_BYTES_PER_SECOND: '0' };
  expect(failuresOf(await exportWith(settings, ['/drip.png']))).toEqual(['timeout']);
});

test('after consecutive timeouts of a host, the build sends it no more requests', async () => {
  const paths = Array.from({ length: 60 }, (_, index) => `/${index}.png`);
  for (const path of paths) slow.script(path, hang());
  const exported = await exportWith({ DOWNLOAD_DEADLINE_SECONDS: '1' }, paths);
  expect(failuresOf(exported)).toEqual(paths.map(() => 'timeout'));
  expect(paths.filter((path) => slow.requests(path) === 0).length).toBeGreaterThan(40);
});
