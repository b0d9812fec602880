import type { OwnTypes } from '../lessons/core-widgets.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { rewriteMediaReferences } from '../lessons/media-references.ts';
import { lessonMapOf } from '../lms/lesson-map.ts';
import { stateSizeOf } from '../lms/worst-case.ts';
import type { StateSize } from '../lms/worst-case.ts';
import { parseContent } from '../models/gzip-parts.ts';
import { toGzip } from '../platform/gzip-pieces.ts';
import { runTask } from '../platform/tasks.ts';
import { outlineOf, pointsOfWidget } from '../progress/outline.ts';
import { compactJson, prettyJson } from '../lessons/json-pieces.ts';

/** The parts of a lesson that an archive needs. */
export interface LessonRequest {
  /** The paths of media files by id; other media get the extension `bin`. */
  paths: ReadonlyMap<string, string>;
  /** The core types for which the version has its own widgets. */
  ownTypes: OwnTypes;
  /** The page of an archive contains the lesson as well. */
  withPage: boolean;
  /** The limit of a learner's state in a platform; null for other archives. */
  maxStateCharacters: number | null;
}

/** The lesson of an archive. */
export interface LessonTexts {
  title: string;
  language: string | null;
  stateSize: StateSize | null;
  /** Whether answers earn points. */
  isGraded: boolean;
  /** The compressed text of lesson.json. */
  lesson: Buffer;
  /** The compressed lesson for a page; empty without one. */
  compact: Buffer;
}

type TextsPart = Omit<LessonTexts, 'lesson' | 'compact'> | { text: 'lesson' | 'compact'; data: Buffer };

const bytesPerPart = 1024 ** 2;

/**
 * Returns the lesson of an archive, which a child process writes.
 *
 * @param parts of the content of the version
 * @throws {LimitExceeded}
 */
export async function writeLessonTexts(
  parts: Buffer[],
  { _id: versionId, organizationId }: { _id: string; organizationId: string },
  request: LessonRequest,
  signal: AbortSignal,
): Promise<LessonTexts> {
  const run = { what: `Exporting the version ${versionId}`, organizationId, signal };
  const texts: Record<'lesson' | 'compact', Buffer[]> = { lesson: [], compact: [] };
  let facts: Omit<LessonTexts, 'lesson' | 'compact'> | undefined;
  for (const part of await runTask<TextsPart>('lessonTexts', { ...request, parts }, run)) {
    if ('text' in part) texts[part.text].push(part.data);
    else facts = part;
  }
  if (facts === undefined) throw new Error('The task that writes a lesson has returned none');
  return { ...facts, lesson: Buffer.concat(texts.lesson), compact: Buffer.concat(texts.compact) };
}

/** The task that writes the lesson of an archive. */
export async function* lessonTextsTask({
  parts,
  paths,
  ownTypes,
  withPage,
  maxStateCharacters,
}: LessonRequest & { parts: Buffer[] }): AsyncGenerator<TextsPart> {
  const content = await parseContent(parts);
  const published = { ...content, lesson: { ...content.lesson, status: 'published' } };
  const rewritten = (part: unknown) =>
    rewriteMediaReferences(part, (id) => paths.get(id) ?? `./media/${id}.bin`);
  yield* pieces('lesson', await toGzip(prettyJson(published, rewritten)));
  if (withPage) yield* pieces('compact', await toGzip(compactJson(published, rewritten)));
  yield {
    title: content.lesson.title,
    language: content.lesson.language ?? null,
    isGraded: isGraded(content),
    stateSize:
      maxStateCharacters === null ? null : stateSizeOf(lessonMapOf(content, ownTypes), maxStateCharacters),
  };
}

/** Returns whether answers to a lesson earn points. */
export function isGraded(content: LessonContent): boolean {
  const steps = outlineOf(content).sections.flatMap((section) => section.steps);
  return steps.some(({ widgets }) => widgets.some((widget) => (pointsOfWidget(widget) ?? 0) > 0));
}

function* pieces(text: 'lesson' | 'compact', bytes: Buffer): Generator<TextsPart> {
  for (let from = 0; from < bytes.length; from += bytesPerPart)
    yield { text, data: bytes.subarray(from, from + bytesPerPart) };
}
