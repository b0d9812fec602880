import type { Digest } from '../../shared/storage/store.ts';
import { widgetMimeTypes } from '../../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../../shared/widgets/check-widget-file.ts';
import { widgetFiles } from './plan.ts';
import type { ExportPlan, PlannedMediaFile } from './plan.ts';

/** A file that has to be in the store; null for an unknown media id. */
export interface StoredFile {
  path: string;
  asset: Digest | null;
}

export interface ExternalFile {
  path: string;
  url: string;
  mimeType: string;
  /** The kind of a widget's file, which is checked after the download. */
  widgetFile?: WidgetFileKind;
}

/** Returns the uploads and widget releases of an archive. */
export function storedFiles(plan: ExportPlan): StoredFile[] {
  const media = plan.media.filter((planned) => !isExternal(planned));
  return [
    ...media.map(({ path, file }) => ({ path, asset: file?.asset ?? null })),
    ...widgetFiles(plan.widgets)
      .filter(({ url }) => url === null)
      .map(({ path, asset }) => ({ path, asset })),
  ];
}

/** Returns the files of an archive that have to be downloaded. */
export function externalFiles(plan: ExportPlan): ExternalFile[] {
  const media = plan.media
    .filter(isExternal)
    .map(({ path, file }) => ({ path, url: file.sourceUrl, mimeType: file.mimeType }));
  const files = widgetFiles(plan.widgets).flatMap(({ path, url }): ExternalFile[] => {
    const widgetFile = path.endsWith('.css') ? 'css' : 'js';
    return url === null ? [] : [{ path, url, mimeType: widgetMimeTypes[widgetFile], widgetFile }];
  });
  return [...media, ...files];
}

function isExternal(
  planned: PlannedMediaFile,
): planned is PlannedMediaFile & { file: { sourceUrl: string } } {
  return !planned.file?.asset && typeof planned.file?.sourceUrl === 'string';
}
