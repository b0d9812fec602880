import { createHash, randomUUID } from 'node:crypto';
import { crc32, gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { ExportEntry } from '../../shared/models/export-record.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { ask, expectError } from '../support/answers.ts';
import { useExportLab } from './lab.ts';
import { follow, mediumPath } from '../player/player-files.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import type { BuiltMedium } from '../support/factories.ts';
import { png } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

const jpeg = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080001000101011100', 'hex'),
  Buffer.alloc(500, 7),
]);

async function build(...media: BuiltMedium[]): Promise<{ version: LessonVersion; ids: string[] }> {
  const built = await buildPackage({ media });
  return { version: await buildVersion(lab.harness, lab.organization, built.path), ids: built.mediaIds };
}

function serve(bytes: Buffer): string {
  const path = `/${randomUUID()}`;
  lab.origin.serve(path, bytes, { etag: '"one"' });
  return lab.origin.url(path);
}

test('a JPEG declared as PNG is named after its type, or after the declared one before its download, and manifest and player report its type', async () => {
  const { version, ids } = await build({ bytes: jpeg }, { sourceUrl: serve(jpeg) });
  const { files, manifest, lesson } = await lab.download(version);
  const shown = manifest.files.media.map(({ id, localPath, mimeType }) => ({ id, localPath, mimeType }));
  const names = ids.map((id, index) => `media/${id}.${index === 0 ? 'jpg' : 'png'}`);
  const expected = ids.map((id, index) => ({ id, localPath: `./${names[index]}`, mimeType: 'image/jpeg' }));
  expect(shown).toEqual(expect.arrayContaining(expected));
  for (const [index, id] of ids.entries()) {
    expect(files.get(names[index] ?? '')?.equals(jpeg)).toBe(true);
    expect(JSON.stringify(lesson)).toContain(`./${names[index]}`);
    const served = await follow(lab.api, mediumPath(version, id));
    expect(served.headers.get('content-type')).toBe('image/jpeg');
  }
});

test('archives and players check a cached file against the type that the next lesson declares', async () => {
  const sourceUrl = serve(png(1));
  await lab.download((await build({ sourceUrl })).version);
  const { version, ids } = await build({ sourceUrl, mimeType: 'video/mp4', extension: 'mp4' });
  expectError(await ask(lab.api + mediumPath(version, ids[0] ?? '')), 404, 'Media file not available');
  const { manifest } = await lab.download(version);
  expect(manifest.failedMedia).toMatchObject([{ id: ids[0], reason: 'bad_type' }]);
});

test('an archive from before type detection is rebuilt byte for byte', async () => {
  const declared = { mimeType: 'image/webp', extension: 'webp' };
  const { version } = await build({ sourceUrl: serve(jpeg), ...declared });
  const { bytes, files } = await lab.download(version);
  const manifest = files.get('manifest.json') ?? Buffer.alloc(0);
  const oldManifest = Buffer.from(String(manifest).replace('image/jpeg', 'image/webp'));
  const old = replaceAll(replaceAll(bytes, manifest, oldManifest), checksum(manifest), checksum(oldManifest));
  expect(old.equals(bytes)).toBe(false);

  const records = lab.harness.db.exportRecords;
  const { key: exportKey } = exportJobOf(version);
  const record = await records.findOne({ exportKey }).lean<{ entries: { buffer: Uint8Array } }>().exec();
  const entries = JSON.parse(String(gunzipSync(record?.entries.buffer ?? ''))) as ExportEntry[];
  const sha256 = createHash('sha256').update(old).digest('hex');
  const oldEntries = gzipSync(JSON.stringify(entries.map((entry) => ({ ...entry, mimeType: undefined }))));
  await records.updateOne({ exportKey }, { archive: { size: old.length, sha256 }, entries: oldEntries });
  await lab.evict(version);

  expect((await lab.download(version)).bytes.equals(old)).toBe(true);
});

function checksum(bytes: Buffer): Buffer {
  const four = Buffer.alloc(4);
  four.writeUInt32LE(crc32(bytes));
  return four;
}

function replaceAll(bytes: Buffer, from: Buffer, to: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  for (let at = changed.indexOf(from); at !== -1; at = changed.indexOf(from, at + to.length))
    to.copy(changed, at);
  return changed;
}
