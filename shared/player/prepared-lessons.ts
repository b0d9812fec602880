import { LRUCache } from 'lru-cache';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { playabilityErrors } from '../lessons/playability.ts';
import type { PlayabilityError } from '../lessons/playability.ts';
import { playerLesson } from '../lessons/player-lesson.ts';
import { estimatedDuration, totalsOf } from '../lessons/totals.ts';
import type { Database } from '../models/database.ts';
import { findContent } from '../models/lesson-content.ts';
import { findPrepared, savePrepared } from '../models/prepared-lesson.ts';
import { outlineOf } from '../progress/outline.ts';
import type { LessonOutline } from '../progress/outline.ts';

/** Raise it when the texts below are made in another way than before. */
const preparedFormat = 3;

/** What parsed facts take in memory, for each byte of their text; about. */
const factsFactor = 4;

/** What requests ask of a version's content, without reading the content. */
export interface LessonFacts {
  title: string;
  /** A BCP 47 tag, as the author says. */
  language: string | null;
  totalSections: number;
  totalSteps: number;
  /** Minutes. */
  estimatedDuration: number;
  playabilityErrors: PlayabilityError[];
  outline: LessonOutline;
}

/** A version's content, made ready: it never changes, and so neither does this. */
export interface PreparedLesson {
  /** What JSON.stringify makes of `playerLesson`, in UTF-8. */
  lesson: Buffer;
  facts: LessonFacts;
}

/**
 * The lessons of published versions, ready to be sent: made of the content at the first load of all, kept in
 * MongoDB, and in memory as long as they are loaded often. Loading one costs no more than its bytes do.
 */
export class PreparedLessons {
  readonly #cache: LRUCache<string, PreparedLesson>;

  /** @param maxBytes memory for the lessons that are loaded often. */
  constructor(db: Database, maxBytes: number) {
    this.#cache = new LRUCache<string, PreparedLesson>({
      maxSize: maxBytes,
      sizeCalculation: ({ lesson, facts }) => lesson.byteLength + factsSize(facts),
      // Requests for one version at the same time share one reading of it.
      fetchMethod: (versionId) => prepare(db, versionId),
      // Others may push a lesson out before it is read; who waits for it gets it all the same.
      ignoreFetchAbort: true,
    });
  }

  /** The lesson of a version; undefined when the version has no content. */
  get(versionId: string): Promise<PreparedLesson | undefined> {
    return this.#cache.fetch(versionId);
  }
}

async function prepare(db: Database, versionId: string): Promise<PreparedLesson | undefined> {
  const kept = await findPrepared(db, versionId, preparedFormat);
  if (kept !== null) {
    return { lesson: kept.lesson, facts: JSON.parse(kept.facts.toString('utf8')) as LessonFacts };
  }
  const content = await findContent(db, versionId);
  if (content === null) return undefined;
  const facts = factsOf(content);
  const lesson = JSON.stringify(playerLesson(content));
  await savePrepared(db, versionId, preparedFormat, { lesson, facts: JSON.stringify(facts) });
  return { lesson: Buffer.from(lesson), facts };
}

function factsOf(content: LessonContent): LessonFacts {
  return {
    title: content.lesson.title,
    language: content.lesson.language ?? null,
    ...totalsOf(content),
    estimatedDuration: estimatedDuration(content),
    playabilityErrors: playabilityErrors(content),
    outline: outlineOf(content),
  };
}

function factsSize(facts: LessonFacts): number {
  return factsFactor * JSON.stringify(facts).length;
}
