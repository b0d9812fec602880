import { fromGzipParts } from '../models/gzip-parts.ts';
import { LecternError } from '../platform/errors.ts';
import { arrayElements, arrayText, objectMembers, objectText } from '../platform/json-text.ts';

/*
 * A draft stores a lesson.json in parts, as JSON text: opening and publishing it changes nothing. See
 * models/lesson-draft.ts.
 */

/** The maximum size of a step's content, and of a skeleton, in bytes. */
export const maxPartBytes = 2 * 1024 ** 2;

/** A part of a lesson. */
export type LessonPart =
  /** A lesson.json without the content of its steps. */
  | { skeleton: string }
  /** The content of a step. */
  | { stepId: string; content: string };

/**
 * The task that divides a stored lesson, whose sections and steps have ids.
 *
 * @throws {LecternError} PAYLOAD_TOO_LARGE for a part over {@link maxPartBytes}
 */
export async function* lessonPartsTask(parts: Buffer[]): AsyncGenerator<LessonPart> {
  const text = (await fromGzipParts(parts.map((data) => ({ data })))).toString('utf8');
  yield* divideLesson(text);
}

/** Yields the parts of a lesson.json, the skeleton last. @throws {LecternError} as {@link lessonPartsTask} does */
export function* divideLesson(text: string): Generator<LessonPart> {
  const lesson = objectMembers(text);
  const sections: string[] = [];
  for (const sectionText of elementsOf(lesson, 'sections')) {
    const section = objectMembers(sectionText);
    const steps: string[] = [];
    for (const stepText of elementsOf(section, 'steps')) {
      const step = objectMembers(stepText);
      const content = step.get('content') ?? '{}';
      requireSize(content, `The step ${step.get('title') ?? ''}`);
      yield { stepId: idOf(step), content };
      step.delete('content');
      steps.push(objectText(step));
    }
    sections.push(objectText(section.set('steps', arrayText(steps))));
  }
  const skeleton = objectText(lesson.set('sections', arrayText(sections)));
  requireSize(skeleton, 'The outline of the lesson');
  yield { skeleton };
}

function requireSize(text: string, what: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxPartBytes) return;
  throw new LecternError(
    'PAYLOAD_TOO_LARGE',
    `${what} has ${bytes} bytes; in a draft it may have ${maxPartBytes}. Divide it.`,
  );
}

/** Yields the text of the lesson.json that consists of these parts. @param contentOf returns the content of a step. */
export async function* joinLesson(
  skeleton: string,
  contentOf: (stepId: string) => Promise<string>,
): AsyncGenerator<string> {
  const lesson = objectMembers(skeleton);
  yield `${without(lesson, 'sections')}"sections":[`;
  for (const [index, sectionText] of elementsOf(lesson, 'sections').entries()) {
    const section = objectMembers(sectionText);
    yield `${separator(index)}${without(section, 'steps')}"steps":[`;
    for (const [at, stepText] of elementsOf(section, 'steps').entries()) {
      const step = objectMembers(stepText);
      yield `${separator(at)}${without(step, 'content')}"content":${await contentOf(idOf(step))}}`;
    }
    yield ']}';
  }
  yield ']}';
}

/** Returns the ids of a skeleton's steps, in their order. */
export function stepIdsOf(skeleton: string): string[] {
  return elementsOf(objectMembers(skeleton), 'sections')
    .flatMap((section) => elementsOf(objectMembers(section), 'steps'))
    .map((step) => idOf(objectMembers(step)));
}

function elementsOf(members: Map<string, string>, name: string): string[] {
  return arrayElements(members.get(name) ?? '[]');
}

function idOf(step: Map<string, string>): string {
  return JSON.parse(step.get('id') ?? '""') as string;
}

function separator(index: number): string {
  return index === 0 ? '' : ',';
}

/** Returns the beginning of an object with these members except one, to which a further member may be added. */
function without(members: Map<string, string>, name: string): string {
  const rest = [...members].filter(([member]) => member !== name);
  return rest.length === 0 ? '{' : `${objectText(rest).slice(0, -1)},`;
}
