import { strToU8, zipSync } from 'fflate';
import type { EditorStore } from '../model/editor-store.ts';

/**
 * Downloads the lesson as it is in this page as a package without media, which can be imported.
 *
 * @returns the titles of steps that this page has not loaded, and cannot load now: the package lacks their content
 */
export async function downloadLesson(store: EditorStore): Promise<string[]> {
  const skeleton = store.skeleton.peek();
  const { title } = skeleton.lesson;
  const missing: string[] = [];
  const sections = await Promise.all(
    skeleton.sections.map(async (section) => ({
      ...section,
      steps: await Promise.all(
        section.steps.map(async (step) => {
          const content = await store.requireStep(step.id).catch(() => undefined);
          if (content === undefined) missing.push(step.title);
          return { ...step, content: content ?? { content: [] } };
        }),
      ),
    })),
  );
  const manifest = {
    ...{ formatVersion: '1.0.0', lessonId: store.lessonId, title },
    ...{ versionId: crypto.randomUUID(), versionNumber: 1, files: {} },
  };
  const file = zipSync({
    'manifest.json': strToU8(JSON.stringify(manifest)),
    'lesson.json': strToU8(JSON.stringify({ ...skeleton, sections })),
  });
  const url = URL.createObjectURL(new Blob([file.slice().buffer], { type: 'application/zip' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60) || 'lesson'}.zip`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return missing;
}
