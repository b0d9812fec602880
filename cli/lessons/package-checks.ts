import { usedWidgetTypes } from '../../shared/lessons/blocks.ts';
import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import { playabilityErrors } from '../../shared/lessons/playability.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { checkPackageFiles } from '../../shared/packages/check-files.ts';
import { packageLimits } from '../../shared/packages/import.ts';
import type { LessonPackage } from '../../shared/packages/lesson-package.ts';
import { PackageError } from '../../shared/packages/package-error.ts';
import { readPackage } from '../../shared/packages/read-package.ts';
import type { CommandContext } from '../installation/context.ts';
import { blockedMedia } from './lesson-checks.ts';
import type { VersionCheck } from './lesson-checks.ts';
import { unavailableWidgets } from '../widgets/widget-checks.ts';

export interface PackageCheck extends VersionCheck {
  package: Pick<LessonPackage, 'lessonId' | 'versionId' | 'versionNumber' | 'slug' | 'title'>;
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
    const read = await readPackage(path, { limits });
    await checkPackageFiles(read);
    const { lessonId, versionId, versionNumber, slug, title, content, media, warnings } = read;
    const externalMedia = media.flatMap(({ id, sourceUrl }) =>
      sourceUrl === undefined ? [] : [{ id, sourceUrl }],
    );
    const types = usedWidgetTypes(content);
    const errors = playabilityErrors(content);
    // Imports accept them with a warning.
    const warnedErrors = new Set(errors.map(({ message }) => `lesson.json: ${message}`));
    const byUrl = read.externalWidgets.filter(({ type }) => types.includes(type));
    return {
      package: { lessonId, versionId, versionNumber, slug, title },
      errors,
      warnings: [
        ...warnings.filter((warning) => !warnedErrors.has(warning)),
        ...foreignWidgets(read, types),
        ...blockedMedia(config, externalMedia),
        ...(await unavailableWidgets({ config, signal }, byUrl)),
      ],
      externalMedia,
    };
  });
}

/** Runs work on a package. Turns the package's faults into an error with one line for each. */
export async function withPackageFaults<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    const faults = error.message.replace(/^/gm, '  ');
    throw new LecternError('INVALID_CONTENT', `${what}:\n${faults}`, { cause: error });
  }
}

function foreignWidgets({ widgets, externalWidgets }: LessonPackage, types: string[]): string[] {
  const brought = new Set([...widgets, ...externalWidgets].map(({ type }) => type));
  return types
    .filter((type) => !isCoreWidget(type) && !brought.has(type))
    .map((type) => `The package has no widget of the type ${type}: the organization must register one.`);
}
