import { basename, resolve } from 'node:path';
import { LimitExceeded } from '../platform/limited-process.ts';
import { runTask } from '../platform/tasks.ts';
import { shownPath } from './entry-name.ts';
import { faultsOfFiles } from './check-files.ts';
import type { CheckedPackage, PackageFiles } from './lesson-package.ts';
import { openableFile } from './local-file.ts';
import { PackageError } from './package-error.ts';
import type { MediumData, PackagePart, PackageRequest, WidgetData } from './package-task.ts';

/**
 * Reads, checks, converts and prepares a package in a child process: hostile content could take minutes.
 *
 * @param options.organizationId the work waits for others of this organization
 * @throws {PackageError} with every fault, or because it takes too much time or memory; the signal's reason
 */
export async function openPackage(
  request: PackageRequest,
  { organizationId, signal }: { organizationId: string; signal: AbortSignal },
): Promise<CheckedPackage> {
  const { path, options } = request;
  const label = options.name ?? shownPath(basename(resolve(path)));
  const run = { what: `${label}: reading the package`, organizationId, signal };
  const parts = await runTask<PackagePart>('readPackage', request, run).catch((error: unknown) => {
    if (!(error instanceof LimitExceeded)) throw error;
    throw new PackageError([`${error.message}. Simplify the lesson, or divide it.`], { cause: error });
  });
  let result: CheckedPackage | undefined;
  const media: MediumData[] = [];
  const widgets: WidgetData[] = [];
  const content: Buffer[] = [];
  const prepared: CheckedPackage['lesson']['prepared'] = [];
  for (const part of parts) {
    switch (part.kind) {
      case 'faults': {
        const { faults, total, isCutShort } = part;
        const more = await faultsOfFiles(opened(media, widgets), { organizationId, signal });
        throw new PackageError([...faults, ...more], { total: total + more.length, isCutShort });
      }
      case 'media':
        media.push(...part.media);
        break;
      case 'widgets':
        widgets.push(...part.widgets);
        break;
      case 'content':
        content.push(part.content);
        break;
      case 'prepared':
        prepared.push(part.text);
        break;
      case 'package':
        result = {
          ...part.package,
          lesson: { ...part.lesson, content, prepared },
          ...opened(media, widgets),
        };
    }
  }
  if (result === undefined) throw new Error('The task that reads a package has returned none');
  return result;
}

function opened(media: MediumData[], widgets: WidgetData[]): Pick<PackageFiles, 'media' | 'widgets'> {
  return {
    media: media.map(({ file, ...rest }) => ({ ...rest, ...(file && { file: openableFile(file) }) })),
    widgets: widgets.map(({ js, css, ...rest }) => ({
      ...{ ...rest, js: openableFile(js) },
      ...(css && { css: openableFile(css) }),
    })),
  };
}
