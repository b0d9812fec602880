import { onDemandTypes } from '../../../shared/lessons/core-widgets.ts';
import type { ExportManifest } from '../../../shared/packages/manifest.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { playerRelease, widgetFrameSource } from '../../../shared/player/player-release.ts';
import { digestOfChunks } from '../../../shared/storage/digest.ts';
import { describePage } from '../describe-page.ts';
import { isFailure } from '../file-outcomes.ts';
import type { Outcomes } from '../file-outcomes.ts';
import { fileInMemory } from '../generated-files.ts';
import type { GeneratedFile } from '../generated-files.ts';
import { indexPage } from '../index-page.ts';
import type { PageScripts } from '../index-page.ts';
import { JobOfOtherRelease } from './profile.ts';
import type { ArchiveParts } from './profile.ts';

/** The files that the player loads on demand, sorted: a font for formulas, and widgets. */
export const onDemandFiles = ['Temml.woff2', ...onDemandTypes.map((type) => `widget-${type}.js`)].sort();

/**
 * Returns files of the player's release for the folder player/ of an archive.
 *
 * @param variant the name of the release.
 * @throws {JobOfOtherRelease} for the player release of a newer or older API.
 */
export async function playerFiles(
  variant: string | null,
  names: readonly string[],
): Promise<GeneratedFile[]> {
  const { name, files } = await playerRelease();
  if (name !== variant) throw new JobOfOtherRelease(`This worker has the player ${name}, not ${variant}`);
  return names.map((file) => {
    const bytes = files.get(file);
    if (bytes === undefined)
      throw new LecternError('INTERNAL_ERROR', `The player is built without ${file}. Run: npm run prepare`);
    return fileInMemory(`player/${file}`, bytes);
  });
}

/** Returns the page that plays the lesson. */
export async function indexFile(
  { store, version, plan, texts, files }: ArchiveParts,
  scripts: Omit<PageScripts, 'widgetFrameSource'>,
): Promise<GeneratedFile> {
  const isPackage = scripts.settings !== undefined;
  const described = await describePage(store, { version, plan, texts, files }, !isPackage);
  const source = widgetFrameSource((await playerRelease()).files);
  const chunks = () => indexPage(described, { ...scripts, widgetFrameSource: source });
  const index = { path: 'index.html', digest: await digestOfChunks(chunks()), chunks };
  files.reserve(index.digest.size);
  return index;
}

/** Returns the manifest's entry of a file; none for a missing one. */
export function describeFile(
  path: string,
  outcomes: Outcomes,
): NonNullable<ExportManifest['files']['player']> {
  const outcome = outcomes.get(path);
  if (outcome === undefined || isFailure(outcome)) return [];
  return [{ localPath: `./${path}`, size: outcome.size, sha256: outcome.sha256 }];
}
