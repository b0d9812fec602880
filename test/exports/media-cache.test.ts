import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { digestOf } from '../../shared/storage/digest.ts';
import { useExportLab } from './lab.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { answer } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { downloadExport } from './exports.ts';
import type { Export } from './exports.ts';
import { png } from './pictures.ts';

const lab = useExportLab({ MEDIA_MAX_BYTES: '100000' }, { worker: true });

/** The URL of the picture for one test; no other test requests it. */
let path: string;
beforeEach(() => {
  path = `/${randomUUID()}.png`;
});

/** Returns the archive of another lesson with that picture, once its downloads are kept for later lessons. */
const download = async () => {
  const url = lab.origin.url(path);
  const exported = await lab.download(await lab.publish({ media: [{ sourceUrl: url }] }));
  if (exported.manifest.failedMedia.length === 0)
    await waitFor(
      'the record of the download',
      async () => (await lab.harness.db.remoteFiles.countDocuments({ url })) > 0,
    );
  return exported;
};

/** Returns the only picture of an archive. */
function pictureOf({ files }: Export): Buffer | undefined {
  return [...files].find(([name]) => name.startsWith('media/'))?.[1];
}

const conditions = () =>
  lab.origin.log
    .filter((request) => request.path === path)
    .map(({ headers }) => headers['if-none-match'] ?? headers['if-modified-since'] ?? null);

test('another lesson with the same file, even of another organization, sends a conditional request', async () => {
  lab.origin.serve(path, png(1), { etag: '"one"' });
  await download();
  expect(pictureOf(await download())?.equals(png(1))).toBe(true);

  const other = await buildOrganization(lab.harness);
  const built = await buildPackage({ media: [{ sourceUrl: lab.origin.url(path) }] });
  const theirs = await buildVersion(lab.harness, other.organization, built.path);
  expect(pictureOf(await downloadExport(lab.api, theirs, other.headers))?.equals(png(1))).toBe(true);
  expect(conditions()).toEqual([null, '"one"', '"one"']);
});

test('when its origin reports for the next lesson that a file is gone, the cached copy is not used', async () => {
  lab.origin.serve(path, png(5));
  await download();
  lab.origin.script(path, answer(410));
  const { manifest } = await download();
  expect(manifest.failedMedia).toMatchObject([{ reason: 'not_found', status: 410 }]);
});

test('a damaged cached file never gets into an archive, and is replaced', async () => {
  lab.origin.serve(path, png(8), { etag: '"eight"' });
  await download();
  const { sha256 } = digestOf(png(8));
  const cached = join(lab.harness.config.storeDir, 'v1/cache', sha256.slice(0, 2), sha256);
  const damaged = Buffer.from(png(8)).fill(0, 1000, 1001);
  await writeFile(cached, damaged);

  expect(pictureOf(await download())?.equals(png(8))).toBe(true);
  await waitFor('the good copy', async () => {
    const copy = await readFile(cached).catch(() => null);
    return copy?.equals(png(8)) === true;
  });
  expect(conditions()).toEqual([null, '"eight"', null]);
});
