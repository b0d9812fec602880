import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { formatVersion } from '../../shared/packages/manifest.ts';
import type { ExportManifest, FailedMedium, FailedWidget } from '../../shared/packages/manifest.ts';
import type { Digest } from '../../shared/storage/store.ts';
import { isFailure } from './file-outcomes.ts';
import type { Outcomes } from './file-outcomes.ts';
import { creditsOf } from './plan.ts';
import type { ExportPlan, PlannedWidget } from './plan.ts';

type WidgetFile = ExportManifest['files']['widgets'][number];

/** Returns the manifest of an archive: the media and widgets in it, the missing ones with reasons, and the credits. */
export function createManifest(
  version: LessonVersion,
  plan: ExportPlan,
  outcomes: Outcomes,
  exportedAt: Date,
): ExportManifest {
  const media: ExportManifest['files']['media'] = [];
  const failedMedia: FailedMedium[] = [];
  for (const { id, path, file } of plan.media) {
    const outcome = outcomes.get(path);
    const localPath = `./${path}`;
    if (outcome === undefined || isFailure(outcome)) {
      failedMedia.push({
        id,
        sourceUrl: file?.sourceUrl ?? null,
        localPath,
        reason: 'unknown_media',
        ...outcome,
      });
    } else {
      const { size, sha256 } = outcome;
      media.push({
        id,
        localPath,
        mimeType: outcome.mimeType ?? file?.mimeType ?? 'application/octet-stream',
        size,
        sha256,
      });
    }
  }
  const widgets = plan.widgets.map((planned) => describeWidget(planned, outcomes));
  return {
    lessonId: version.lessonId,
    title: version.title,
    versionNumber: version.versionNumber,
    versionId: version._id,
    publishedAt: (version.publishedAt ?? version.createdAt).toISOString(),
    exportedAt: exportedAt.toISOString(),
    formatVersion,
    files: {
      lesson: './lesson.json',
      media,
      widgets: widgets.flatMap(({ file }) => file ?? []),
    },
    failedMedia,
    failedWidgets: widgets.flatMap(({ failure }) => failure ?? []),
    attributions: creditsOf(plan),
    ...(plan.externalVideos.length > 0 && { externalVideos: plan.externalVideos.map((url) => ({ url })) }),
  };
}

function describeWidget(
  { type: widgetType, widget, js, css }: PlannedWidget,
  outcomes: Outcomes,
): { file?: WidgetFile; failure?: FailedWidget } {
  if (widget === null || js === null) {
    return { failure: { widgetType, id: null, sourceUrl: null, reason: 'not_found' } };
  }
  const { widgetId: id } = widget;
  const found = outcomes.get(js.path);
  if (found === undefined || isFailure(found)) {
    const sources = { sourceUrl: js.url, ...(typeof css?.url === 'string' && { cssSourceUrl: css.url }) };
    return { failure: { widgetType, id, ...sources, reason: 'not_found', ...found } };
  }
  const cssFound = css === null ? undefined : outcomes.get(css.path);
  const file: WidgetFile = {
    widgetType,
    localPath: `./${js.path}`,
    ...(css && cssFields(css.path, cssFound)),
    size: found.size,
    sha256: found.sha256,
  };
  if (css === null || cssFound === undefined || !isFailure(cssFound)) return { file };
  return { file, failure: { widgetType, id, sourceUrl: css.url, ...cssFound } };
}

function cssFields(path: string, css: Digest | object | undefined): Partial<WidgetFile> {
  if (css === undefined || !('sha256' in css)) return {};
  return { cssLocalPath: `./${path}`, cssSize: css.size, cssSha256: css.sha256 };
}
