import { expect, test } from 'vitest';
import { useExportLab } from './lab.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { findExportRecord, saveExportRecord } from '../../shared/models/export-record.ts';
import { digestOf, bytesOf } from '../../shared/storage/digest.ts';
import { ArchiveWriter } from '../../worker/exports/archive-writer.ts';
import { contentDigest } from '../../worker/exports/record.ts';
import { png } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

test('an archive without media or widgets has empty folders for them, and a rebuild gives the same bytes', async () => {
  const noWidgets = { blocks: () => [{ type: 'Unknown', props: { id: 'a' } }] };
  const bare = await lab.download(await lab.publish(noWidgets));
  expect(bare.folders).toEqual(['media/', 'widgets/']);

  const version = await lab.build();
  const first = await lab.download(version);
  expect(first.folders).toEqual(['media/']);
  await lab.evict(version);
  expect((await lab.download(version)).bytes.equals(first.bytes)).toBe(true);
  await lab.downloadBoth(version);
  const again = await lab.downloadBoth(version, '?include=player');
  expect(again.archive.folders).toEqual(['media/']);

  const full = await lab.build(png(1));
  expect((await lab.download(full)).folders).toEqual([]);
});

test('an archive first built without entries for empty folders is rebuilt without them', async () => {
  const { db } = lab.harness;
  const version = await lab.build();
  const { key } = exportJobOf(version);
  const { files, folder } = await lab.download(version);
  const record = await findExportRecord(db, key);
  if (record === null) throw new Error('There is no record');
  // In the format of the preceding release.
  const entries = record.entries.filter(({ path }) => path !== 'media/');
  const parts: Buffer[] = [];
  const sink = {
    write: (chunks: readonly Uint8Array[]) =>
      Promise.resolve(void parts.push(...chunks.map((chunk) => Buffer.from(chunk)))),
  };
  const writer = new ArchiveWriter(sink, version.publishedAt ?? new Date(), folder);
  for (const [path, bytes] of files) await writer.add(path, digestOf(bytes), bytesOf(bytes));
  const archive = await writer.finish();
  const digest = contentDigest(entries.slice(0, -1));
  const { exportedAt } = record;
  const built = { exportKey: key, contentDigest: digest, exportedAt, archive, entries };
  await saveExportRecord(db, { ...built, organizationId: version.organizationId });
  await lab.evict(version);

  const again = await lab.download(version);
  expect(again.folders).toEqual([]);
  expect(again.bytes.equals(Buffer.concat(parts))).toBe(true);
  await lab.downloadBoth(version);
});
