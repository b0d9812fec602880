import pLimit from 'p-limit';
import { createDownloader, DownloadError } from '../shared/downloads/downloader.ts';
import { findExternalWidgets } from '../shared/models/external-widget.ts';
import type { LessonVersion } from '../shared/models/lesson-version.ts';
import { widgetFileFault } from '../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../shared/widgets/check-widget-file.ts';
import type { CommandContext } from './context.ts';
import { describeFailure, fetchWidgetFile } from './fetch-widget-file.ts';

/** Files that are fetched at once, into memory. */
const concurrency = 4;

/**
 * Fetches the widgets that a version names by URL, and keeps nothing.
 *
 * @param types those that the version's content uses.
 * @returns a sentence for each file that no archive would have now.
 */
export async function unavailableWidgets(
  { config, db, signal }: Pick<CommandContext, 'config' | 'db' | 'signal'>,
  version: LessonVersion,
  types: string[],
): Promise<string[]> {
  const widgets = [...(await findExternalWidgets(db, version._id, types)).values()];
  const downloader = createDownloader(config.download);
  const limit = pLimit(concurrency);
  const check = async (type: string, kind: WidgetFileKind, url: string): Promise<string[]> => {
    const what = `The ${kind === 'js' ? 'module' : 'stylesheet'} of the widget ${type}`;
    try {
      const fault = await widgetFileFault(await fetchWidgetFile(downloader, { url, kind, signal }), kind);
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
