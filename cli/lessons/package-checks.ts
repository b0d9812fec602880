import type { StoredReport } from '../../shared/lessons/loss-report.ts';
import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import { checkPackageFiles } from '../../shared/packages/check-files.ts';
import { packageLimits } from '../../shared/packages/import.ts';
import type { CheckedPackage } from '../../shared/packages/lesson-package.ts';
import { openPackage } from '../../shared/packages/open-package.ts';
import { shortened, withPackageFaults } from '../../shared/packages/package-error.ts';
import type { CommandContext } from '../installation/context.ts';
import { blockedMedia } from '../../shared/publishing/check-version.ts';
import type { VersionCheck } from '../../shared/publishing/check-version.ts';
import { unavailableWidgets } from '../../shared/widgets/unavailable-widgets.ts';
import { withDownloader } from '../../shared/media/downloads/downloader.ts';

export interface PackageCheck extends Omit<VersionCheck, 'warnings'> {
  warnings: string[];
  package: Pick<CheckedPackage, 'lessonId' | 'versionId' | 'versionNumber' | 'slug' | 'title'>;
  /** Null for a package. */
  report: StoredReport | null;
}

/**
 * Checks a package, a folder or a ZIP, as an import does, without importing it.
 *
 * @throws {LecternError} INVALID_CONTENT with every reason for which an import would reject it
 */
export async function checkPackage(
  { config, signal }: Pick<CommandContext, 'config' | 'signal'>,
  path: string,
): Promise<PackageCheck> {
  const limits = packageLimits(config);
  return withPackageFaults(`Cannot import ${path}`, async () => {
    const run = { organizationId: 'this command', signal };
    const read = await openPackage({ path, options: { limits }, asNew: false }, run);
    const changes = await checkPackageFiles(read, run);
    const { lessonId, versionId, versionNumber, slug, title, media, warnings } = read;
    const externalMedia = media.flatMap(({ id, sourceUrl }) =>
      sourceUrl === undefined ? [] : [{ id, sourceUrl }],
    );
    const { widgetTypes: types, playabilityErrors: errors } = read.lesson;
    // Imports accept them with a warning.
    const warnedErrors = new Set(errors.map(({ message }) => `lesson.json: ${message}`));
    const byUrl = read.externalWidgets.filter(({ type }) => types.includes(type));
    return {
      package: { lessonId, versionId, versionNumber, slug, title },
      report: read.report,
      errors,
      warnings: [
        ...warnings.filter((warning) => !warnedErrors.has(warning)),
        ...shortened(changes),
        ...foreignWidgets(read, types),
        ...[
          ...blockedMedia(config, externalMedia),
          ...(await withDownloader(config, (downloader) =>
            unavailableWidgets({ downloader, ...run }, byUrl),
          )),
        ].map(({ message }) => message),
      ],
      externalMedia,
    };
  });
}

function foreignWidgets({ widgets, externalWidgets }: CheckedPackage, types: string[]): string[] {
  const brought = new Set([...widgets, ...externalWidgets].map(({ type }) => type));
  return types
    .filter((type) => !isCoreWidget(type) && !brought.has(type))
    .map((type) => `The package has no widget of the type ${type}: the organization must register one.`);
}
