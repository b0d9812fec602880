import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { lookup } from 'mime-types';
import { storeAsset } from '../assets/stored-assets.ts';
import type { MediaKind } from '../lessons/html-media.ts';
import { browserFault } from '../media/browser-formats.ts';
import type { FileCodecs } from '../media/browser-formats.ts';
import { captionsType } from '../media/captions.ts';
import { inspect } from '../media/content-types.ts';
import { passiveFormat } from '../media/file-formats.ts';
import { imageSizeOf, maxPictureHeadBytes } from '../media/image-size.ts';
import type { Database } from '../models/database.ts';
import { addLibraryFiles, kindOf, libraryFileId } from '../models/library-file.ts';
import type { Organization } from '../models/organization.ts';
import { StorageQuota } from '../models/stored-bytes.ts';
import type { Config } from '../platform/config.ts';
import { bytesOf } from '../storage/digest.ts';
import type { Store } from '../storage/store.ts';
import { repairedFile, withHead } from './import-media.ts';
import { PackageError } from './package-error.ts';
import { pathExtension } from './package-media.ts';

/** Browsers need four bytes of memory for each pixel of a picture. */
const maxPixels = 100_000_000;

/**
 * Adds an uploaded file to the media library of an organization, with the checks and conversions of an import.
 *
 * @param upload.path of its bytes; @param upload.name as its author calls it
 * @returns the id of the file: that of the library's, if the organization has these bytes
 * @throws {PackageError} for a file that lessons cannot show
 * @throws {LecternError} PAYLOAD_TOO_LARGE if the organization may not store that much; the signal's reason
 */
export async function storeUploadedFile(
  { db, store, config }: { db: Database; store: Store; config: Pick<Config, 'download' | 'import'> },
  organization: Organization,
  { path, name, signal }: { path: string; name: string; signal: AbortSignal },
): Promise<string> {
  const no = (fault: string) => new PackageError([`${name}: ${fault}`]);
  const { size } = await stat(path);
  const { maxBytes } = config.download;
  if (size > maxBytes) throw no(`has ${size} bytes; a file of a lesson has at most ${maxBytes}`);
  const written = pathExtension(name) ?? '';
  const declared = written === 'srt' ? captionsType : lookup(written) || 'application/octet-stream';
  const quota = await StorageQuota.open(db, organization, config.import.maxStoredBytes);
  const source = createReadStream(path);
  try {
    const { head, whole, codes } = await withHead(source);
    if (head.length === 0) throw no('is empty');
    const { contradiction, mimeType } = await inspect(declared, head);
    if (contradiction !== null) throw no(`is ${contradiction}, not ${declared}`);
    const format = passiveFormat(mimeType, written);
    if (format.extension === 'bin') throw no('has a type that lessons do not show. Convert it');
    const pixels = await pixelsOf(path, format.mimeType);
    if (pixels !== null && pixels.width * pixels.height > maxPixels)
      throw no(`has ${pixels.width} × ${pixels.height} pixels; a picture has at most ${maxPixels}`);
    const owner = { organizationId: organization._id, signal };
    const repaired = await repairedFile({ mimeType: format.mimeType }, { path: name, size }, whole, owner);
    const bytes = repaired === null ? whole : bytesOf(repaired.bytes);
    const asset = await storeAsset(db, store, bytes, async (digest) => {
      // The whole file has been read: its codecs are known.
      const fault = shownFault(format.mimeType, { head, codes });
      if (fault !== null) throw no(fault);
      signal.throwIfAborted();
      await quota.addFile(digest);
    });
    const file = { organizationId: organization._id, ...format, asset };
    const noSize = { width: null, height: null };
    const empty = { alt: '', credit: '', creditUrl: '', license: '' };
    await addLibraryFiles(db, [{ ...file, ...(pixels ?? noSize), name, ...empty }]);
    return libraryFileId(organization._id, asset.sha256);
  } finally {
    source.destroy();
  }
}

/** Returns the size of a picture other than a drawing; null for other files, and if it is unknown. */
async function pixelsOf(path: string, mimeType: string): Promise<{ width: number; height: number } | null> {
  if (!/^image\/(?!svg)/i.test(mimeType)) return null;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(maxPictureHeadBytes),
      0,
      maxPictureHeadBytes,
      0,
    );
    const size = imageSizeOf(buffer.subarray(0, bytesRead));
    return size && { width: size.width, height: size.height };
  } finally {
    await file.close();
  }
}

/** Returns why browsers do not show a picture, video or recording; null for other files, too. */
function shownFault(mimeType: string, codecs: FileCodecs): string | null {
  const kind = kindOf(mimeType);
  const uses: Partial<Record<typeof kind, Exclude<MediaKind, 'captions'>>> = {
    ...{ image: 'image', video: 'video', audio: 'audio' },
  };
  const use = uses[kind];
  return use === undefined ? null : browserFault(use, mimeType, codecs);
}
