import { fileTypeFromBuffer } from 'file-type';
import type { Database } from '../models/database.ts';
import { saveTheme } from '../models/theme.ts';
import { LecternError } from '../platform/errors.ts';
import { bytesOf } from '../storage/digest.ts';
import type { Store } from '../storage/store.ts';
import { themeFileTypes, themeFiles } from '../theme/theme.ts';
import type { Theme, ThemeFile, ThemeFileKind } from '../theme/theme.ts';
import { addOrphanCandidates, storeAsset } from './stored-assets.ts';

/** Small, because learners load both files with the first step. */
const maxBytes: Record<ThemeFileKind, number> = { logo: 200 * 1024, fontFile: 1024 * 1024 };

const formats: Record<ThemeFileKind, string> = {
  logo: 'PNG, JPEG or WebP',
  fontFile: 'WOFF2, WOFF, TTF or OTF',
};

/**
 * Checks a logo or a font by its content, and stores it under its digest. SVGs are rejected, because they may contain
 * scripts, which run when someone opens the file of an archive.
 *
 * @param name of the file, for the error
 * @throws {LecternError} INVALID_CONTENT for another type or too many bytes
 */
export async function storeThemeFile(
  db: Database,
  store: Store,
  { kind, name, bytes }: { kind: ThemeFileKind; name: string; bytes: Buffer },
): Promise<ThemeFile> {
  const limit = maxBytes[kind];
  if (bytes.length > limit) {
    const kilobytes = `${Math.ceil(bytes.length / 1024)} kB`;
    throw new LecternError('INVALID_CONTENT', `${name} has ${kilobytes}. The limit is ${limit / 1024} kB.`);
  }
  const mimeType = (await fileTypeFromBuffer(bytes))?.mime ?? 'an unknown type';
  if (!Object.hasOwn(themeFileTypes[kind], mimeType)) {
    const isSvg = /<svg[\s>]/i.test(bytes.subarray(0, 4096).toString('latin1'));
    const found = isSvg ? 'an SVG, which may contain scripts' : mimeType;
    throw new LecternError('INVALID_CONTENT', `${name} is ${found}. Use ${formats[kind]}.`);
  }
  const { sha256, crc32, size } = await storeAsset(db, store, bytesOf(bytes));
  return { sha256, crc32, size, mimeType };
}

/** Stores a theme in place of another; null for none. A sweep removes files that no theme uses any more. */
export async function replaceTheme(
  db: Database,
  { organizationId, id }: { organizationId: string; id: string },
  before: Theme | null,
  after: Theme | null,
): Promise<void> {
  await saveTheme(db, organizationId, id, after);
  if (before !== null)
    await addOrphanCandidates(
      db,
      themeFiles(before).map(({ sha256 }) => sha256),
    );
}
