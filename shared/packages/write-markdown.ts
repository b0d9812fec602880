import { writeLesson } from '../converters/markdown/write-lesson.ts';
import type { FileLocation } from './file-location.ts';
import type { LessonPackage } from './lesson-package.ts';

/** The Markdown of a lesson, with its media. */
export interface MarkdownFiles {
  files: FileLocation[];
  /** What is left out, for people. */
  losses: string[];
}

/** Writes a lesson as `lesson.md`, beside the files that it names. */
export function markdownFiles({ content, media, widgets, externalWidgets }: LessonPackage): MarkdownFiles {
  const paths = new Map<string, string>();
  const references = new Map<string, string>();
  const credits = new Map<string, LessonPackage['media'][number]['attributions']>();
  const losses = [...widgets, ...externalWidgets].map(({ type }) => `the widget ${type}: register it`);
  const files: FileLocation[] = [];
  for (const { id, extension, file, sourceUrl, attributions } of media) {
    const path = file === undefined ? sourceUrl : `media/${id}.${extension}`;
    if (path === undefined) continue;
    paths.set(`media:${id}`, path);
    if (file === undefined) {
      if (attributions.length > 0) losses.push(`the credits of ${path}`);
      continue;
    }
    references.set(path, `media:${id}`);
    if (attributions.length > 0) credits.set(path, attributions);
    files.push(relocated(file.location, path));
  }
  const pathOf = (reference: string) => paths.get(reference.toLowerCase()) ?? reference;
  const written = writeLesson(content, { pathOf, file: (path) => references.get(path) ?? null }, credits);
  const bytes = Buffer.from(written.markdown);
  return {
    files: [{ archive: null, file: { path: 'lesson.md', size: bytes.length }, bytes }, ...files],
    losses: [...losses, ...written.losses],
  };
}

/** Returns the location of a file that gets another path. Its bytes stay where they are. */
function relocated(location: FileLocation, path: string): FileLocation {
  if (location.archive !== null) return { ...location, file: { ...location.file, path } };
  if ('bytes' in location) return { ...location, file: { ...location.file, path } };
  return { ...location, file: { ...location.file, path } };
}
