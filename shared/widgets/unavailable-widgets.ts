import pLimit from 'p-limit';
import { DownloadError } from '../media/downloads/downloader.ts';
import type { Downloader } from '../media/downloads/downloader.ts';
import type { ExternalWidget } from '../models/external-widget.ts';
import { widgetFileFault } from './check-widget-file.ts';
import type { WidgetFileKind } from './check-widget-file.ts';
import { describeFailure, fetchWidgetFile } from './fetch-widget-file.ts';

/** The number of files that are downloaded into memory concurrently. */
const concurrency = 4;

/** A warning about a part that a lesson uses. */
export interface PartWarning {
  /** The id of a media file, or the type of a widget. */
  of: string;
  message: string;
}

export interface WidgetCheckDependencies {
  downloader: Downloader;
  /** The organization whose share of downloads the check uses. */
  organizationId: string;
  signal: AbortSignal;
}

/**
 * Downloads a lesson's widgets by URL to check them, and stores nothing.
 *
 * @returns a warning for each file that an archive would lack now, or that did not arrive before the signal's timeout
 */
export async function unavailableWidgets(
  { downloader, organizationId, signal }: WidgetCheckDependencies,
  widgets: Pick<ExternalWidget, 'type' | 'sourceUrl' | 'cssSourceUrl'>[],
): Promise<PartWarning[]> {
  const limit = pLimit(concurrency);
  const check = async (type: string, kind: WidgetFileKind, url: string): Promise<PartWarning[]> => {
    const what = `The ${kind === 'js' ? 'module' : 'stylesheet'} of the widget ${type}`;
    try {
      const fault = await widgetFileFault(
        await fetchWidgetFile(downloader, { url, organizationId, kind, signal }),
        kind,
        signal,
      );
      return fault === null ? [] : [{ of: type, message: `${what} ${fault}: ${url}` }];
    } catch (error) {
      if (isTimeout(error)) return [{ of: type, message: `${what} cannot be fetched from ${url} in time` }];
      if (!(error instanceof DownloadError)) throw error;
      return [{ of: type, message: `${what} cannot be fetched from ${url}: ${describeFailure(error)}` }];
    }
  };
  const checks = widgets.flatMap(({ type, sourceUrl, cssSourceUrl }) => [
    limit(() => check(type, 'js', sourceUrl)),
    ...(cssSourceUrl === null ? [] : [limit(() => check(type, 'css', cssSourceUrl))]),
  ]);
  return (await Promise.all(checks)).flat();
}

/** Returns whether a time limit of shared/platform/time-limits.ts ended the download. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
