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

/** The format of prepared lessons. Increment it with each change. */
const preparedFormat = 3;

/** Bytes of memory that parsed facts take for each byte of their text, roughly. */
const factsFactor = 4;

/** The facts about a version's content that requests use without reading the content. */
export interface LessonFacts {
  title: string;
  /** The author's BCP 47 tag. */
  language: string | null;
  totalSections: number;
  totalSteps: number;
  /** Minutes. */
  estimatedDuration: number;
  playabilityErrors: PlayabilityError[];
  outline: LessonOutline;
}

/** A version's content, prepared for players. Immutable, like the content. */
export interface PreparedLesson {
  /** The JSON of `playerLesson`, in UTF-8. */
  lesson: Buffer;
  facts: LessonFacts;
}

/**
 * The prepared lessons of published versions. Each is made at its first load and stored in MongoDB. The memory of the
 * process holds the ones that are loaded often.
 */
export class PreparedLessons {
  readonly #cache: LRUCache<string, PreparedLesson>;

  /** @param maxBytes size of the cache in memory. */
  constructor(db: Database, maxBytes: number) {
    this.#cache = new LRUCache<string, PreparedLesson>({
      maxSize: maxBytes,
      sizeCalculation: ({ lesson, facts }) => lesson.byteLength + factsSize(facts),
      // Concurrent requests for a version share one call.
      fetchMethod: (versionId) => prepare(db, versionId),
      // Requests get their lesson even if others evict it while it is read.
      ignoreFetchAbort: true,
    });
  }

  /** Returns the lesson of a version; undefined if the version has no content. */
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
