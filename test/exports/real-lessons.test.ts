import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOf } from '../../shared/storage/digest.ts';
import { buildOrganization, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { realLessons } from '../support/real-lessons.ts';
import { temporaryFolder } from './archives.ts';
import { downloadExport, mediaPaths } from './exports.ts';
import type { Export } from './exports.ts';
import { zipReaders } from './zip-readers.ts';

const sources = await realLessons();
const harnesses: Harness[] = [];
afterAll(async () => {
  for (const harness of harnesses) await harness.close();
});

/** Imports a package into an empty Lectern, publishes it, and downloads its export. */
async function throughLectern(path: string): Promise<Export> {
  const harness = await startHarness();
  harnesses.push(harness);
  const [api, { organization, headers }] = await Promise.all([
    harness.startApi(),
    buildOrganization(harness),
  ]);
  await harness.startWorker();
  return downloadExport(api, await buildVersion(harness, organization, path), headers);
}

describe.each(sources)('$name', ({ path }) => {
  let exported: Export;
  beforeAll(async () => {
    exported = await throughLectern(path);
  });

  test('exports exactly the original media files', async () => {
    const originals = (await readdir(join(path, 'media'))).sort();
    expect(mediaPaths(exported)).toEqual(originals.map((name) => `media/${name}`));
    for (const name of originals) {
      const original = digestOf(await readFile(join(path, 'media', name)));
      expect({ name, ...digestOf(exported.files.get(`media/${name}`) ?? Buffer.alloc(0)) }).toEqual({
        name,
        ...original,
      });
    }
  });

  test('references media only by local paths that exist', () => {
    const lesson = String(exported.files.get('lesson.json'));
    expect(lesson).not.toMatch(/media:[0-9a-f]{8}-/i);
    const referred = new Set(
      [...lesson.matchAll(/\.\/(media\/[0-9a-f-]{36}\.[a-z0-9]+)/g)].map(([, found]) => found),
    );
    expect([...referred].sort()).toEqual(mediaPaths(exported));
  });

  test('has a manifest that describes every file of the archive', () => {
    const { files, failedMedia, failedWidgets } = exported.manifest;
    expect({ failedMedia, failedWidgets }).toEqual({ failedMedia: [], failedWidgets: [] });
    const described = [
      ...files.media.map(({ localPath, size, sha256 }) => ({ localPath, size, sha256 })),
      ...files.widgets.flatMap(({ localPath, size, sha256, cssLocalPath, cssSize, cssSha256 }) => [
        { localPath, size, sha256 },
        ...(cssLocalPath === undefined
          ? []
          : [{ localPath: cssLocalPath, size: cssSize, sha256: cssSha256 }]),
      ]),
    ];
    const found = [...exported.files].map(([name, bytes]) => {
      const { size, sha256 } = digestOf(bytes);
      return { localPath: `./${name}`, size, sha256 };
    });
    const isDescribed = ({ localPath }: { localPath: string }) =>
      !/^\.\/(lesson|manifest)\.json$/.test(localPath);
    const byPath = (one: { localPath: string }, other: { localPath: string }) =>
      one.localPath < other.localPath ? -1 : 1;
    expect(described.toSorted(byPath)).toEqual(found.filter(isDescribed).toSorted(byPath));
    expect(exported.folder).toBe(`${exported.lesson.lesson.slug}-v${exported.manifest.versionNumber}`);
  });

  test('keeps the credits of its media', async () => {
    const original = JSON.parse(await readFile(join(path, 'manifest.json'), 'utf8')) as Export['manifest'];
    const byMedium = (one: { mediaId: string }, other: { mediaId: string }) =>
      one.mediaId < other.mediaId ? -1 : 1;
    expect(exported.manifest.attributions.toSorted(byMedium)).toEqual(
      original.attributions.toSorted(byMedium),
    );
  });

  test('is valid for three ZIP readers', async () => {
    const archive = join(await temporaryFolder(), 'export.zip');
    await writeFile(archive, exported.bytes);
    const expected = [...exported.files].map(([name, bytes]) => ({
      name: `${exported.folder}/${name}`,
      size: bytes.length,
      sha256: digestOf(bytes).sha256,
    }));
    for (const { name, available, read } of zipReaders) {
      if (available) expect({ name, entries: await read(archive) }).toEqual({ name, entries: expected });
    }
  });

  test('survives export, import elsewhere and another export unchanged', async () => {
    const archive = join(await temporaryFolder(), 'export.zip');
    await writeFile(archive, exported.bytes);
    const again = await throughLectern(archive);
    expect(again.files.get('lesson.json')?.equals(exported.files.get('lesson.json') as Buffer)).toBe(true);
    expect([...again.files.keys()]).toEqual([...exported.files.keys()]);
    for (const [name, bytes] of exported.files) {
      if (name !== 'manifest.json')
        expect({ name, equal: again.files.get(name)?.equals(bytes) }).toEqual({ name, equal: true });
    }
    const withoutTimes = { publishedAt: '', exportedAt: '' };
    expect({ ...again.manifest, ...withoutTimes }).toEqual({ ...exported.manifest, ...withoutTimes });
  });
});
