import { basename, resolve } from 'node:path';
import { LimitExceeded } from '../platform/limited-process.ts';
import { runTask } from '../platform/tasks.ts';
import { shownPath } from './entry-name.ts';
import { faultsOfFiles } from './check-files.ts';
import type { StoredReport } from '../lessons/loss-report.ts';
import type { FileLocation } from './file-location.ts';
import type { CheckedPackage, PackageFiles } from './lesson-package.ts';
import { openableFile } from './local-file.ts';
import { PackageError } from './package-error.ts';
import type { ConvertedPart, MediumData, PackagePart, PackageRequest, WidgetData } from './package-task.ts';

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
  const parts = await runOnPackage<PackagePart>('readPackage', request, { organizationId, signal });
  let result: CheckedPackage | undefined;
  const media: MediumData[] = [];
  const widgets: WidgetData[] = [];
  const content: Buffer[] = [];
  let report: CheckedPackage['report'] = null;
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
      case 'report':
        report ??= { format: part.format, entries: [] };
        report.entries.push(...part.entries);
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
          report,
          ...opened(media, widgets),
        };
    }
  }
  if (result === undefined) throw new Error('The task that reads a package has returned none');
  return result;
}

export type WrittenFormat = 'package' | 'markdown' | 'gift' | 'qti';

/** The files that a lesson becomes in another format. */
export interface ConvertedFiles {
  files: FileLocation[];
  /** What became of each element of a source in another format; null for a package. */
  report: StoredReport | null;
  /** What the format cannot express. */
  losses: string[];
}

/**
 * Makes a package of a source in another format, or writes a lesson in any format as Markdown, GIFT or QTI, in a child process.
 *
 * @throws {PackageError} with every fault; the signal's reason
 */
export async function openConverted(
  to: WrittenFormat,
  request: PackageRequest,
  run: { organizationId: string; signal: AbortSignal },
): Promise<ConvertedFiles> {
  const result: ConvertedFiles = { files: [], report: null, losses: [] };
  const task = { package: 'convertSource', markdown: 'writeMarkdown', gift: 'writeGift', qti: 'writeQti' }[
    to
  ];
  for (const part of await runOnPackage<ConvertedPart>(task, request, run)) {
    if (part.kind === 'faults') throw new PackageError(part.faults, part);
    if (part.kind === 'files') result.files.push(...part.files);
    else if (part.kind === 'losses') result.losses.push(...part.losses);
    else {
      result.report ??= { format: part.format, entries: [] };
      result.report.entries.push(...part.entries);
    }
  }
  return result;
}

async function runOnPackage<Part>(
  task: string,
  request: PackageRequest,
  { organizationId, signal }: { organizationId: string; signal: AbortSignal },
): Promise<Part[]> {
  const label = request.options.name ?? shownPath(basename(resolve(request.path)));
  const run = { what: `${label}: reading the package`, organizationId, signal };
  return runTask<Part>(task, request, run).catch((error: unknown) => {
    if (!(error instanceof LimitExceeded)) throw error;
    throw new PackageError([`${error.message}. Simplify the lesson, or divide it.`], { cause: error });
  });
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
