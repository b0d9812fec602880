import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import yauzl from 'yauzl';
import type { Sums } from './generated-bytes.ts';

/** The sums of an archive file's entries, by name; manifest.json as well. */
export async function readArchive(
  path: string,
): Promise<{ entries: Map<string, Sums>; manifest: ArchiveManifest }> {
  const entries = new Map<string, Sums>();
  let manifestJson = '';
  const zip = await yauzl.openPromise(path);
  for await (const entry of zip.eachEntry()) {
    const hash = createHash('sha256');
    let [size, checksum] = [0, 0];
    for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      hash.update(piece);
      checksum = crc32(piece, checksum);
      size += piece.length;
      if (entry.fileName.endsWith('/manifest.json')) manifestJson += piece.toString();
    }
    expect(checksum, `the CRC-32 of ${entry.fileName}`).toBe(entry.crc32);
    entries.set(entry.fileName, { size, sha256: hash.digest('hex'), crc32: checksum });
  }
  return { entries, manifest: JSON.parse(manifestJson) as ArchiveManifest };
}

/** What these tests read of an archive's manifest.json. */
export interface ArchiveManifest {
  files: { media: { id: string; localPath: string; size: number; sha256: string }[] };
  failedMedia: unknown[];
}

/** That the archive holds exactly these media, as they were generated and as its manifest says. */
export async function expectGeneratedMedia(
  path: string,
  folder: string,
  wanted: Map<string, Sums>,
): Promise<void> {
  const { entries, manifest } = await readArchive(path);
  expect(manifest.failedMedia).toEqual([]);
  expect(manifest.files.media).toHaveLength(wanted.size);
  for (const { id, localPath, size, sha256 } of manifest.files.media) {
    const sums = wanted.get(id);
    expect({ size, sha256 }, id).toEqual({ size: sums?.size, sha256: sums?.sha256 });
    expect(entries.get(`${folder}/${localPath.replace('./', '')}`), localPath).toEqual(sums);
  }
}
