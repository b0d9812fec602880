import { DownloadError, withDownloader } from '../../shared/media/downloads/downloader.ts';
import type { Downloader } from '../../shared/media/downloads/downloader.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { widgetFileFault } from '../../shared/widgets/check-widget-file.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import type { CommandContext } from '../installation/context.ts';
import { describeFailure, fetchWidgetFile } from '../../shared/widgets/fetch-widget-file.ts';
import type { WidgetFileRequest } from '../../shared/widgets/fetch-widget-file.ts';

export interface RegisterOptions {
  org: string;
  type: string;
  js: string;
  css?: string;
}

/**
 * Downloads the files of a widget and stores them as its newest release.
 *
 * @throws {LecternError} INVALID_CONTENT for a file that cannot be downloaded, or
 *   that is not a self-contained module or a stylesheet
 */
export async function registerWidget(
  { config, db, store, signal }: CommandContext,
  organizationId: string,
  options: RegisterOptions,
) {
  return withDownloader(config, async (downloader) => {
    const request = { organizationId, signal };
    const js = await fetchFile(downloader, { ...request, url: options.js, kind: 'js' });
    const css =
      options.css === undefined
        ? null
        : await fetchFile(downloader, { ...request, url: options.css, kind: 'css' });
    const files = { js: bytesOf(js), css: css === null ? null : bytesOf(css) };
    return releaseWidget(db, store, { organizationId, type: options.type, ...files });
  });
}

async function fetchFile(downloader: Downloader, request: WidgetFileRequest): Promise<Buffer> {
  const { url, kind, signal } = request;
  try {
    const file = await fetchWidgetFile(downloader, request);
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
