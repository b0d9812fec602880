import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Store } from '../../shared/storage/store.ts';
import type { FileSearch } from './resolve-files.ts';
import type { IndexPage } from './index-page.ts';
import { isMissing, openFound } from './outcome.ts';
import type { FoundFile } from './outcome.ts';
import type { ExportPlan, PlannedMedium } from './plan.ts';

export interface PageOfArchive {
  version: LessonVersion;
  plan: ExportPlan;
  lesson: LessonContent;
  search: Pick<FileSearch, 'find'>;
}

/** What an archive's index.html carries: of its files, those texts that could be had. */
export async function describePage(
  store: Store,
  { version, plan, lesson, search }: PageOfArchive,
): Promise<IndexPage> {
  const find = async (path: string): Promise<FoundFile | undefined> => {
    const found = await search.find(path);
    return isMissing(found) ? undefined : found;
  };
  const widgets: IndexPage['widgets'] = [];
  for (const { type, js, css } of plan.widgets) {
    // The player has the core widgets in itself.
    if (js === null || isCoreWidget(type)) continue;
    const module = await find(js.path);
    if (module === undefined) continue;
    const hasCss = css !== null && (await find(css.path)) !== undefined;
    const cssPath = hasCss ? `./${css.path}` : null;
    widgets.push({ type, cssPath, module: () => readFound(store, module) });
  }
  const captions: IndexPage['captions'] = [];
  for (const planned of plan.media.filter(isCaptions)) {
    const text = await find(planned.path);
    if (text !== undefined) captions.push({ path: `./${planned.path}`, text: () => readFound(store, text) });
  }
  const attributions = plan.media.flatMap(({ medium }) => medium?.attributions ?? []);
  return { lesson, versionId: version._id, widgets, captions, attributions };
}

/** The paths of the files that the page needs again when they are in the archive. */
export function readAgain(plan: ExportPlan): Set<string> {
  const modules = plan.widgets.flatMap(({ js }) => js ?? []);
  return new Set([...plan.media.filter(isCaptions), ...modules].map(({ path }) => path));
}

function isCaptions({ medium }: PlannedMedium): boolean {
  return medium?.mimeType.toLowerCase() === 'text/vtt' || medium?.extension.toLowerCase() === 'vtt';
}

async function* readFound(store: Store, found: FoundFile): AsyncGenerator<Uint8Array> {
  const file = await openFound(store, found);
  try {
    yield* file.chunks();
  } finally {
    await file.close();
  }
}
