import { writeGift } from '../converters/gift/write-gift.ts';
import { writeQti } from '../converters/qti/write-qti.ts';
import { writeLesson } from '../converters/markdown/write-lesson.ts';
import { rewriteMediaReferences } from '../lessons/media-references.ts';
import type { FileLocation } from './file-location.ts';
import type { LessonPackage } from './lesson-package.ts';

/** A lesson in another format. */
export interface WrittenFiles {
  files: FileLocation[];
  /** What is left out, for people. */
  losses: string[];
}

/** Writes a lesson as `lesson.md`, beside the files that it names. */
export function markdownFiles({ content, media, widgets, externalWidgets }: LessonPackage): WrittenFiles {
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
  return {
    files: [madeFile('lesson.md', written.markdown), ...files],
    losses: [...losses, ...written.losses],
  };
}

/** Writes the questions of a lesson as `questions.gift`. */
export function giftFiles({ content }: LessonPackage): WrittenFiles {
  const { text, losses } = writeGift(content);
  return { files: [madeFile('questions.gift', text)], losses };
}

/** Writes the questions of a lesson as a QTI package, with their media. */
export function qtiFiles({ content, media }: LessonPackage): WrittenFiles {
  const paths = new Map<string, string>();
  const files: FileLocation[] = [];
  for (const { id, extension, file, sourceUrl } of media) {
    const path = `media/${id}.${extension}`;
    const shown = file === undefined ? sourceUrl : `../${path}`;
    if (shown !== undefined) paths.set(id, shown);
    if (file !== undefined) files.push(relocated(file.location, path));
  }
  const written = writeQti(rewriteMediaReferences(content, (id) => paths.get(id) ?? `media:${id}`));
  const shown = files.filter(({ file }) => written.files.some(({ text }) => text.includes(file.path)));
  const made = written.files.map(({ path, text }) => madeFile(path, text));
  return { files: [...made, ...shown], losses: written.losses };
}

function madeFile(path: string, text: string): FileLocation {
  const bytes = Buffer.from(text);
  return { archive: null, file: { path, size: bytes.length }, bytes };
}

/** Returns the location of a file that gets another path. Its bytes stay where they are. */
function relocated(location: FileLocation, path: string): FileLocation {
  if (location.archive !== null) return { ...location, file: { ...location.file, path } };
  if ('bytes' in location) return { ...location, file: { ...location.file, path } };
  return { ...location, file: { ...location.file, path } };
}
