import pLimit from 'p-limit';
import { createDownloader, DownloadError } from '../../shared/media/downloads/downloader.ts';
import type { ExternalWidget } from '../../shared/models/external-widget.ts';
import { widgetFileFault } from '../../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../../shared/widgets/check-widget-file.ts';
import type { CommandContext } from '../installation/context.ts';
import { describeFailure, fetchWidgetFile } from './fetch-widget-file.ts';

/** Files that are downloaded into memory at once. */
const concurrency = 4;

/**
 * Downloads a lesson's widgets by URL to check them, and stores nothing.
 *
 * @returns a sentence for each file that an archive would lack now
 */
export async function unavailableWidgets(
  { config, signal }: Pick<CommandContext, 'config' | 'signal'>,
  widgets: Pick<ExternalWidget, 'type' | 'sourceUrl' | 'cssSourceUrl'>[],
): Promise<string[]> {
  const downloader = createDownloader(config.download);
  const limit = pLimit(concurrency);
  const check = async (type: string, kind: WidgetFileKind, url: string): Promise<string[]> => {
    const what = `The ${kind === 'js' ? 'module' : 'stylesheet'} of the widget ${type}`;
    try {
      const fault = await widgetFileFault(
        await fetchWidgetFile(downloader, { url, kind, signal }),
        kind,
        signal,
      );
      return fault === null ? [] : [`${what} ${fault}: ${url}`];
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      return [`${what} cannot be fetched from ${url}: ${describeFailure(error)}`];
    }
  };
  try {
    const checks = widgets.flatMap(({ type, sourceUrl, cssSourceUrl }) => [
      limit(() => check(type, 'js', sourceUrl)),
      ...(cssSourceUrl === null ? [] : [limit(() => check(type, 'css', cssSourceUrl))]),
    ]);
    return (await Promise.all(checks)).flat();
  } finally {
    downloader.close();
  }
}
