import type { LessonTexts } from '../../shared/exports/lesson-texts.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { fromGzip } from '../../shared/platform/gzip-pieces.ts';
import type { Store } from '../../shared/storage/store.ts';
import type { FileResolution } from './resolve-files.ts';
import type { IndexPage } from './index-page.ts';
import { isFailure, openResolved } from './file-outcomes.ts';
import type { ResolvedFile } from './file-outcomes.ts';
import type { ExportPlan, PlannedMediaFile } from './plan.ts';

interface PageParts {
  version: LessonVersion;
  plan: ExportPlan;
  texts: LessonTexts;
  files: Pick<FileResolution, 'outcomeOf'>;
}

/** Returns the content of an archive's index.html, with the texts of all files that are not missing. */
export async function describePage(
  store: Store,
  { version, plan, texts, files }: PageParts,
): Promise<IndexPage> {
  const find = async (path: string): Promise<ResolvedFile | undefined> => {
    const outcome = await files.outcomeOf(path);
    return isFailure(outcome) ? undefined : outcome;
  };
  const widgets: IndexPage['widgets'] = [];
  for (const { type, widget, js, css } of plan.widgets) {
    // The player contains the core widgets, which belong to no organization.
    if (js === null || widget?.organizationId === null) continue;
    const module = await find(js.path);
    if (module === undefined) continue;
    const hasCss = css !== null && (await find(css.path)) !== undefined;
    const cssPath = hasCss ? `./${css.path}` : null;
    widgets.push({ type, cssPath, module: () => readResolved(store, module) });
  }
  const captions: IndexPage['captions'] = [];
  for (const planned of plan.media.filter(isCaptions)) {
    const text = await find(planned.path);
    if (text !== undefined)
      captions.push({ path: `./${planned.path}`, text: () => readResolved(store, text) });
  }
  const attributions = plan.media.flatMap(({ file }) => file?.attributions ?? []);
  const { title, language } = texts;
  const lesson = { title, language, text: () => fromGzip(texts.compact) };
  return { lesson, versionId: version._id, widgets, captions, attributions };
}

/** Returns the paths of the files whose texts the page contains. They are read again after they are in the archive. */
export function pathsInPage(plan: ExportPlan): Set<string> {
  const modules = plan.widgets.flatMap(({ js }) => js ?? []);
  return new Set([...plan.media.filter(isCaptions), ...modules].map(({ path }) => path));
}

function isCaptions({ file }: PlannedMediaFile): boolean {
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
