import { posix } from 'node:path';

import { lookup } from 'mime-types';

import { extensionOf } from '../media/file-formats.ts';
import type { Attribution } from '../lessons/player-lesson.ts';
import type { PackageMedium } from './lesson-package.ts';
import { listedFile, localPathIn, packageFile } from './local-file.ts';
import type { ManifestEntries, PackageManifest } from './manifest.ts';
import type { FaultList } from './package-error.ts';
import type { PackageSource } from './package-source.ts';
import { httpUrl } from './text-shapes.ts';

/** Attributions of one media file, which are stored in one document. */
const maxAttributions = 100;

interface Context {
  source: PackageSource;
  faults: FaultList;
  mediaBaseUrl: string | undefined;
}

/** An entry of files.media or of failedMedia. */
interface Entry {
  id: string;
  /** Its position in manifest.json. */
  path: string;
  localPath?: string | undefined;
  mimeType?: string | undefined;
  size?: number | undefined;
  sha256?: string | undefined;
  sourceUrl?: string | undefined;
  /** Whether a missing file is a fault if there is no source. */
  isRequired: boolean;
}

/**
 * Returns the media that manifest.json lists, and the media that the export failed to download: from their file if it
 * was added later, else from their source. Leaves out failed media with neither.
 *
 * @param mediaBaseUrl makes all media external, at this URL, under the name of its file
 */
export function packageMedia(
  manifest: ManifestEntries,
  source: PackageSource,
  mediaBaseUrl: string | undefined,
  faults: FaultList,
): PackageMedium[] {
  const context: Context = { source, faults, mediaBaseUrl };
  const attributions = attributionsByMedium(manifest);
  const seen = new Map<string, string>();
  return entriesOf(manifest).flatMap((entry) => {
    const twin = seen.get(entry.id);
    if (twin !== undefined) {
      faults.add(`manifest.json: ${entry.path}.id`, `duplicate of ${twin}.id`);
      return [];
    }
    seen.set(entry.id, entry.path);
    const medium = toMedium(entry, context);
    if (medium === undefined) return [];
    const credits = attributions.get(entry.id) ?? [];
    if (credits.length > maxAttributions) {
      faults.add(
        'manifest.json: attributions',
        `has ${credits.length} for ${entry.id}; at most ${maxAttributions} are allowed for one media file`,
      );
    }
    return [{ ...medium, attributions: credits }];
  });
}

function entriesOf(manifest: ManifestEntries): Entry[] {
  const listed = manifest.files.media.flatMap((entry, index): Entry | [] =>
    entry === undefined ? [] : { ...entry, path: `files.media[${index}]`, isRequired: true },
  );
  const failed = manifest.failedMedia.flatMap((entry, index): Entry | [] => {
    if (entry === undefined) return [];
    const { id, localPath, sourceUrl } = entry;
    return { id, localPath, path: `failedMedia[${index}]`, sourceUrl: httpUrl(sourceUrl), isRequired: false };
  });
  return [...listed, ...failed];
}

function toMedium(
  entry: Entry,
  { source, faults, mediaBaseUrl }: Context,
): Omit<PackageMedium, 'attributions'> | undefined {
  const { id, localPath, sourceUrl, sha256 } = entry;
  const place = `manifest.json: ${entry.path}`;
  const path =
    localPath === undefined ? undefined : localPathIn('media', localPath, `${place}.localPath`, faults);
  if (localPath !== undefined && path === undefined) return undefined;
  const extension = (path === undefined ? undefined : pathExtension(path)) ?? extensionOf(entry.mimeType);
  const mimeType = entry.mimeType ?? (lookup(extension) || 'application/octet-stream');
  const medium = { id, mimeType, extension, ...(sha256 !== undefined && { sha256 }) };
  if (mediaBaseUrl !== undefined) {
    return { ...medium, sourceUrl: below(mediaBaseUrl, path === undefined ? `${id}.${extension}` : path) };
  }
  const isThere = path !== undefined && source.find(path) !== undefined;
  if (path !== undefined && (isThere || (entry.isRequired && sourceUrl === undefined))) {
    const file = entry.isRequired
      ? listedFile(source, path, { place, field: 'localPath', size: entry.size }, faults)
      : packageFile(source, path);
    return file && { ...medium, file };
  }
  if (sourceUrl !== undefined) return { ...medium, sourceUrl };
  if (entry.isRequired) faults.add(place, 'has neither a localPath nor a sourceUrl');
  return undefined;
}

/**
 * Returns a path's extension in lower case, without the dot; undefined if it is missing, or if archives do not allow
 * it.
 */
export function pathExtension(path: string): string | undefined {
  const extension = posix.extname(path).slice(1).toLowerCase();
  return /^[a-z0-9]{1,8}$/.test(extension) ? extension : undefined;
}

/**
 * Returns the ids of media whose extension archives do not allow, by file name. References to them consist of the whole
 * file name.
 */
export function unusualNames(manifest: PackageManifest): Map<string, string> {
  const entries = [...manifest.files.media, ...manifest.failedMedia];
  const unusual = entries.flatMap(({ id, localPath }) =>
    localPath === undefined || pathExtension(localPath) !== undefined
      ? []
      : [[posix.basename(localPath).toLowerCase(), id] as const],
  );
  return new Map(unusual);
}

/** Appends a file name to the path of a base URL and keeps its query, such as a signature. */
function below(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${encodeURIComponent(posix.basename(path))}`;
  return url.href;
}

/** Returns the attributions by media id, in the order of the manifest. */
function attributionsByMedium(manifest: ManifestEntries): Map<string, Attribution[]> {
  const byMedium = new Map<string, Attribution[]>();
  for (const credit of manifest.attributions) {
    if (credit === undefined) continue;
    const { mediaId, text, url, portfolioUrl } = credit;
    const attributions = byMedium.get(mediaId) ?? [];
    attributions.push({ text, url, portfolioUrl });
    byMedium.set(mediaId, attributions);
  }
  return byMedium;
}
