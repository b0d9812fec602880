import type { StepContent } from './blocks.ts';

/** A step in the skeleton. */
export interface SkeletonStep {
  readonly id: string;
  readonly title: string;
  readonly [name: string]: unknown;
}

export interface SkeletonSection {
  readonly id: string;
  readonly title: string;
  readonly steps: readonly SkeletonStep[];
  readonly [name: string]: unknown;
}

/** A lesson.json without the content of its steps. Never mutated. */
export interface Skeleton {
  readonly lesson: { readonly id?: string; readonly title: string; readonly [name: string]: unknown };
  readonly sections: readonly SkeletonSection[];
  readonly [name: string]: unknown;
}

/** Names a part of the document that is saved on its own: the skeleton, or a step by its id. */
export type PartKey = 'skeleton' | `step:${string}`;

/** The parts that are loaded. A step that was created and undone is undefined. */
export type Parts = ReadonlyMap<PartKey, Skeleton | StepContent | undefined>;

/** A change of one part. */
interface PartChange {
  readonly key: PartKey;
  readonly before: Skeleton | StepContent | undefined;
  readonly after: Skeleton | StepContent | undefined;
}

/** What the author has selected. */
export type Selection =
  | { readonly kind: 'lesson' }
  | { readonly kind: 'section'; readonly id: string }
  | { readonly kind: 'step'; readonly id: string }
  | { readonly kind: 'block'; readonly stepId: string; readonly id: string }
  /** A list of blocks inside a block, by its path in the step. */
  | { readonly kind: 'slot'; readonly stepId: string; readonly id: string };

/** Something that can be undone. */
interface Edit {
  readonly changes: readonly PartChange[];
  readonly before: Selection;
  readonly after: Selection;
  /** Edits with the same one, shortly after each other, are one. */
  readonly mergeKey: string | null;
  /** When it was made last, in milliseconds. */
  readonly at: number;
}

/** The loaded parts of a lesson, and what was done to them. */
export interface LessonDocument {
  readonly parts: Parts;
  readonly done: readonly Edit[];
  readonly undone: readonly Edit[];
  readonly selection: Selection;
}

/** The number of edits that can be undone. */
const maxEdits = 500;

/** A pause of this length ends a run of typing. */
const mergeMs = 3_000;

export function stepKey(stepId: string): PartKey {
  return `step:${stepId}`;
}

export function skeletonOf({ parts }: Pick<LessonDocument, 'parts'>): Skeleton {
  return parts.get('skeleton') as Skeleton;
}

/** Returns the content of a step; undefined if it is not loaded. */
export function stepOf({ parts }: Pick<LessonDocument, 'parts'>, stepId: string): StepContent | undefined {
  return parts.get(stepKey(stepId)) as StepContent | undefined;
}

/** Applies an edit. Parts that stay the same object are no change. */
export function edit(
  document: LessonDocument,
  changed: Iterable<readonly [PartKey, Skeleton | StepContent | undefined]>,
  {
    select = document.selection,
    mergeKey = null,
    at = Date.now(),
  }: { select?: Selection; mergeKey?: string | null; at?: number } = {},
): LessonDocument {
  const changes = [...changed]
    .map(([key, after]) => ({ key, before: document.parts.get(key), after }))
    .filter(({ before, after }) => before !== after);
  if (changes.length === 0) return { ...document, selection: select };
  const made: Edit = { changes, before: document.selection, after: select, mergeKey, at };
  const last = document.done.at(-1);
  const isMerged =
    last !== undefined &&
    mergeKey !== null &&
    last.mergeKey === mergeKey &&
    at - last.at < mergeMs &&
    document.undone.length === 0;
  const done = isMerged
    ? [...document.done.slice(0, -1), merged(last, made)]
    : [...document.done.slice(1 - maxEdits), made];
  return { parts: withParts(document.parts, changes, 'after'), done, undone: [], selection: select };
}

/** Edits with a merge key change one part. */
function merged(first: Edit, next: Edit): Edit {
  const changes = next.changes.map((change) => ({
    ...change,
    before: first.changes.find(({ key }) => key === change.key)?.before ?? change.before,
  }));
  return { ...next, changes, before: first.before };
}

/** Takes back the last edit; returns the same document if there is none. */
export function undo(document: LessonDocument): LessonDocument {
  const last = document.done.at(-1);
  if (last === undefined) return document;
  return {
    parts: withParts(document.parts, last.changes, 'before'),
    done: document.done.slice(0, -1),
    undone: [...document.undone, last],
    selection: last.before,
  };
}

/** Does again what was undone last; returns the same document if there is nothing. */
export function redo(document: LessonDocument): LessonDocument {
  const next = document.undone.at(-1);
  if (next === undefined) return document;
  return {
    parts: withParts(document.parts, next.changes, 'after'),
    done: [...document.done, { ...next, mergeKey: null }],
    undone: document.undone.slice(0, -1),
    selection: next.after,
  };
}

function withParts(parts: Parts, changes: readonly PartChange[], side: 'before' | 'after'): Parts {
  const next = new Map(parts);
  for (const change of changes) next.set(change.key, change[side]);
  return next;
}

/** Adds a part that was loaded, which is no edit. */
export function withLoaded(
  document: LessonDocument,
  key: PartKey,
  value: Skeleton | StepContent,
): LessonDocument {
  return { ...document, parts: new Map(document.parts).set(key, value) };
}
