import type { LessonTexts } from '../../shared/exports/lesson-texts.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { fromGzip } from '../../shared/platform/gzip-pieces.ts';
import type { Store } from '../../shared/storage/store.ts';
import type { FileResolution } from './resolve-files.ts';
import type { IndexPage } from './index-page.ts';
import { isFailure, openResolved } from './file-outcomes.ts';
import type { ResolvedFile } from './file-outcomes.ts';
import { creditsOf, isCustom } from './plan.ts';
import type { ExportPlan, PlannedMediaFile } from './plan.ts';
import { maxInlineBytes } from '../../shared/lessons/media-references.ts';

interface PageParts {
  version: LessonVersion;
  plan: ExportPlan;
  texts: LessonTexts;
  files: Pick<FileResolution, 'outcomeOf'>;
}

/** The size of all media in the page. */
const maxInlineTotalBytes = 20_000_000;

/**
 * Returns the content of an archive's index.html, with the texts of all files that are not missing.
 *
 * @param hasMedia whether it contains the media of custom widgets, for a page that is opened from a folder.
 */
export async function describePage(
  store: Store,
  { version, plan, texts, files }: PageParts,
  hasMedia: boolean,
): Promise<IndexPage> {
  const find = async (path: string): Promise<ResolvedFile | undefined> => {
    const outcome = await files.outcomeOf(path);
    return isFailure(outcome) ? undefined : outcome;
  };
  const widgets: IndexPage['widgets'] = [];
  for (const planned of plan.widgets.filter(isCustom)) {
    const { type, js, css } = planned;
    const module = js && (await find(js.path));
    if (!module) continue;
    const style = css === null ? undefined : await find(css.path);
    widgets.push({
      type,
      js: () => readResolved(store, module),
      css: style ? () => readResolved(store, style) : null,
    });
  }
  const captions: IndexPage['captions'] = [];
  const media: IndexPage['media'] = [];
  let inlineBytes = 0;
  for (const planned of plan.media) {
    const path = `./${planned.path}`;
    if (isCaptions(planned)) {
      const text = await find(planned.path);
      if (text !== undefined) captions.push({ path, text: () => readResolved(store, text) });
    } else if (hasMedia && planned.isOfCustomWidget) {
      const file = await find(planned.path);
      if (file === undefined || !isInline(file, inlineBytes)) continue;
      inlineBytes += file.size;
      const mimeType = file.mimeType ?? planned.file?.mimeType ?? 'application/octet-stream';
      media.push({ path, mimeType, bytes: () => readResolved(store, file) });
    }
  }
  const attributions = creditsOf(plan);
  const { title, language } = texts;
  const lesson = { title, language, text: () => fromGzip(texts.compact) };
  return { lesson, versionId: version._id, widgets, captions, media, attributions };
}

function isInline({ size }: Pick<ResolvedFile, 'size'>, inlineBytes: number): boolean {
  return size <= maxInlineBytes && inlineBytes + size <= maxInlineTotalBytes;
}

/** Returns the paths of the files that the page contains. They are read again after they are in the archive. */
export function pathsInPage(plan: ExportPlan): Set<string> {
  const code = plan.widgets.flatMap(({ js, css }) => [js, css]).filter((file) => file !== null);
  const media = plan.media.filter((planned) => planned.isOfCustomWidget || isCaptions(planned));
  return new Set([...media, ...code].map(({ path }) => path));
}

function isCaptions({ file }: Pick<PlannedMediaFile, 'file'>): boolean {
  return file?.mimeType.toLowerCase() === 'text/vtt' || file?.extension.toLowerCase() === 'vtt';
}

async function* readResolved(store: Store, resolved: ResolvedFile): AsyncGenerator<Uint8Array> {
  const file = await openResolved(store, resolved);
  try {
    yield* file.chunks();
  } finally {
    await file.close();
  }
}
