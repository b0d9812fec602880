import { createDownloader, DownloadError } from '../../shared/media/downloads/downloader.ts';
import type { Downloader } from '../../shared/media/downloads/downloader.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { widgetFileFault } from '../../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../../shared/widgets/check-widget-file.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { requireOrganization } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { describeFailure, fetchWidgetFile } from './fetch-widget-file.ts';

export interface RegisterOptions {
  org: string;
  type: string;
  js: string;
  css?: string;
}

/**
 * Downloads the files of a widget and stores them as its newest release.
 *
 * @throws {LecternError} NOT_FOUND for an unknown organization; INVALID_CONTENT for a file that cannot be downloaded, or
 *   that is not a self-contained module or a stylesheet
 */
export async function registerWidget(
  { config, db, store, signal }: CommandContext,
  options: RegisterOptions,
) {
  const { _id: organizationId } = await requireOrganization(db, options.org);
  const downloader = createDownloader(config.download);
  try {
    const js = await fetchFile(downloader, options.js, 'js', signal);
    const css = options.css === undefined ? null : await fetchFile(downloader, options.css, 'css', signal);
    const files = { js: bytesOf(js), css: css === null ? null : bytesOf(css) };
    return await releaseWidget(db, store, { organizationId, type: options.type, ...files });
  } finally {
    downloader.close();
  }
}

async function fetchFile(
  downloader: Downloader,
  url: string,
  kind: WidgetFileKind,
  signal: AbortSignal,
): Promise<Buffer> {
  try {
    const file = await fetchWidgetFile(downloader, { url, kind, signal });
    const fault = await widgetFileFault(file, kind, signal);
    if (fault === null) return file;
    const what = kind === 'js' ? 'module' : 'stylesheet';
    throw new LecternError('INVALID_CONTENT', `Cannot use ${url}: the ${what} ${fault}`);
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    throw new LecternError('INVALID_CONTENT', `Cannot fetch ${url}: ${describeFailure(error)}`, {
      cause: error,
    });
  }
}
