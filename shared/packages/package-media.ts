import { posix } from 'node:path';

import { extension as extensionOfType, lookup } from 'mime-types';

import type { Attribution } from '../models/medium.ts';
import type { PackageMedium } from './lesson-package.ts';
import { listedFile, localPathIn, packageFile } from './local-file.ts';
import type { PackageManifest } from './manifest.ts';
import type { FaultList } from './package-error.ts';
import type { PackageSource } from './package-source.ts';
import { httpUrl } from './text-shapes.ts';

/** They are in one document of the database, with their texts. */
const maxAttributions = 100;

interface Context {
  source: PackageSource;
  faults: FaultList;
  mediaBaseUrl: string | undefined;
}

/** An entry of files.media or of failedMedia. */
interface Entry {
  id: string;
  /** Where it stands in manifest.json. */
  path: string;
  localPath?: string | undefined;
  mimeType?: string | undefined;
  size?: number | undefined;
  sha256?: string | undefined;
  sourceUrl?: string | undefined;
  /** Whether a file has to be there when there is no source. */
  isRequired: boolean;
}

/**
 * The media of a package: those that manifest.json lists, and those that its export failed to fetch, from their
 * file if someone has put it where it belongs, else from their source. A failed medium that has neither is left out.
 *
 * @param mediaBaseUrl makes every medium external: at this address, under the name of its file
 */
export function packageMedia(
  manifest: PackageManifest,
  source: PackageSource,
  mediaBaseUrl: string | undefined,
  faults: FaultList,
): PackageMedium[] {
  const context: Context = { source, faults, mediaBaseUrl };
  const attributions = attributionsOf(manifest);
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

function entriesOf(manifest: PackageManifest): Entry[] {
  const listed = manifest.files.media.map((entry, index): Entry => {
    return { ...entry, path: `files.media[${index}]`, isRequired: true };
  });
  const failed = manifest.failedMedia.map(({ id, localPath, sourceUrl }, index): Entry => {
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

/** Returns the usual extension of a MIME type; 'bin' when there is none. */
export function extensionOf(mimeType: string | undefined): string {
  const known = mimeType === undefined ? false : extensionOfType(mimeType);
  return known === false ? 'bin' : known;
}

/**
 * Returns a path's extension in lower case, without the dot; undefined when it is missing, or not one that files in
 * archives may have.
 */
export function pathExtension(path: string): string | undefined {
  const extension = posix.extname(path).slice(1).toLowerCase();
  return /^[a-z0-9]{1,8}$/.test(extension) ? extension : undefined;
}

/**
 * The ids of the media whose file has another extension in archives than in this package, by file name: references to
 * them are told by the whole name.
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

/** Only the path grows: a query of the base, such as a signature, stays at the end. */
function below(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${encodeURIComponent(posix.basename(path))}`;
  return url.href;
}

/** By medium, in the order of the manifest. */
function attributionsOf(manifest: PackageManifest): Map<string, Attribution[]> {
  const byMedium = new Map<string, Attribution[]>();
  for (const { mediaId, text, url, portfolioUrl } of manifest.attributions) {
    const attributions = byMedium.get(mediaId) ?? [];
    attributions.push({ text, url, portfolioUrl });
    byMedium.set(mediaId, attributions);
  }
  return byMedium;
}
