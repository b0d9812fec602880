import { LRUCache } from 'lru-cache';
import { usedWidgetTypes } from '../lessons/blocks.ts';
import type { OwnTypes } from '../lessons/core-widgets.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import type { LessonChunk } from '../lessons/lesson-skeleton.ts';
import { playabilityErrors } from '../lessons/playability.ts';
import type { PlayabilityError } from '../lessons/playability.ts';
import { playerLessonText } from '../lessons/player-lesson.ts';
import { estimatedDuration, totalsOf } from '../lessons/totals.ts';
import type { Database } from '../models/database.ts';
import { findContent } from '../models/lesson-content.ts';
import { findVersion } from '../models/lesson-version.ts';
import { findOwnTypes } from '../widgets/version-widgets.ts';
import { findChunk, findPrepared, savePrepared } from '../models/prepared-lesson.ts';
import type { ChunkKind, PreparedKind } from '../models/prepared-lesson.ts';
import { GzipText } from '../platform/gzip-text.ts';
import { outlineOf } from '../progress/outline.ts';
import type { LessonOutline } from '../progress/outline.ts';
import { divideLesson } from './lesson-chunks.ts';

/** The format of prepared lessons. Increment it with each change. */
const preparedFormat = 7;

/** The approximate bytes of memory that parsed facts take for each byte of their text. */
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
  /** The chunks of steps, in playing order. */
  chunks: LessonChunk[];
}

/**
 * The lessons of versions, prepared for players and immutable, like the content. Each is prepared at its first load and
 * stored in MongoDB. The memory of the process holds the texts that are loaded often, compressed.
 */
export class PreparedLessons {
  readonly #db: Database;
  readonly #facts: LRUCache<string, { facts: LessonFacts; bytes: number }>;
  readonly #texts: LRUCache<string, GzipText, { versionId: string; kind: TextKind }>;
  /** The preparations that are running, by version. */
  readonly #running = new Map<string, Promise<boolean>>();

  /** @param maxBytes size of the cache in memory. */
  constructor(db: Database, maxBytes: number) {
    this.#db = db;
    this.#facts = new LRUCache<string, { facts: LessonFacts; bytes: number }>({
      maxSize: maxBytes / 2,
      sizeCalculation: ({ bytes }) => factsFactor * bytes,
      // Concurrent requests for a version share one call.
      fetchMethod: (versionId) => this.#readFacts(versionId),
      // Requests get their lesson even if other lessons evict it during the read.
      ignoreFetchAbort: true,
    });
    this.#texts = new LRUCache<string, GzipText, { versionId: string; kind: TextKind }>({
      maxSize: maxBytes / 2,
      sizeCalculation: ({ file }) => file.length,
      fetchMethod: (_key, _stale, { context: { versionId, kind } }) => this.#read(versionId, kind),
      ignoreFetchAbort: true,
    });
  }

  /** Returns the facts about a version; undefined if the version has no content. */
  async facts(versionId: string): Promise<LessonFacts | undefined> {
    return (await this.#facts.fetch(versionId))?.facts;
  }

  /** Returns the {@link playerLessonText} of a version; undefined if the version has no content. */
  lesson(versionId: string): Promise<GzipText | undefined> {
    return this.#text(versionId, 'lesson');
  }

  /** Returns the JSON of a version's `LessonSkeleton`, without `<`; undefined if the version has no content. */
  skeleton(versionId: string): Promise<GzipText | undefined> {
    return this.#text(versionId, 'skeleton');
  }

  /** Returns the text of a chunk, without `<`; undefined if the version has no such chunk. */
  chunk(versionId: string, id: string): Promise<GzipText | undefined> {
    return this.#text(versionId, `chunk-${id}`);
  }

  #text(versionId: string, kind: TextKind): Promise<GzipText | undefined> {
    return this.#texts.fetch(`${versionId}/${kind}`, { context: { versionId, kind } });
  }

  async #readFacts(versionId: string): Promise<{ facts: LessonFacts; bytes: number } | undefined> {
    const text = await this.#read(versionId, 'facts');
    if (text === undefined) return undefined;
    const facts = JSON.parse((await text.expand()).toString('utf8')) as LessonFacts;
    return { facts, bytes: text.bytes };
  }

  /** Reads a text, and prepares the version if the text is missing. */
  async #read(versionId: string, kind: PreparedKind): Promise<GzipText | undefined> {
    const kept = await find(this.#db, versionId, kind);
    if (kept !== null) return kept;
    // A client must not cause work with invented ids.
    if (isChunk(kind) && !(await this.#hasChunk(versionId, kind))) return undefined;
    const isPrepared = await this.#prepare(versionId);
    return isPrepared ? ((await find(this.#db, versionId, kind)) ?? undefined) : undefined;
  }

  async #hasChunk(versionId: string, kind: ChunkKind): Promise<boolean> {
    const { chunks = [] } = (await this.facts(versionId)) ?? {};
    return chunks.some(({ id }) => kind === `chunk-${id}`);
  }

  #prepare(versionId: string): Promise<boolean> {
    const running =
      this.#running.get(versionId) ??
      prepare(this.#db, versionId).finally(() => this.#running.delete(versionId));
    this.#running.set(versionId, running);
    return running;
  }
}

type TextKind = Exclude<PreparedKind, 'facts'>;

function find(db: Database, versionId: string, kind: PreparedKind): Promise<GzipText | null> {
  return isChunk(kind) ? findChunk(db, versionId, kind) : findPrepared(db, versionId, preparedFormat, kind);
}

function isChunk(kind: PreparedKind): kind is ChunkKind {
  return kind.startsWith('chunk-');
}

/** Prepares a version and stores its texts. Returns false if the version has no content. */
async function prepare(db: Database, versionId: string): Promise<boolean> {
  const [content, version] = await Promise.all([findContent(db, versionId), findVersion(db, versionId)]);
  if (content === null || version === null) return false;
  const ownTypes = await findOwnTypes(db, version, usedWidgetTypes(content));
  const { skeleton, chunks } = divideLesson(content, ownTypes);
  const save = async (kind: PreparedKind, text: string) =>
    savePrepared(db, versionId, preparedFormat, { kind, text: await GzipText.of(text) });
  for (const { id, text } of chunks) await save(`chunk-${id}`, text);
  await save('lesson', playerLessonText(content));
  await save('skeleton', skeleton);
  await save('facts', JSON.stringify(factsOf(content, chunks, ownTypes)));
  return true;
}

function factsOf(content: LessonContent, chunks: readonly LessonChunk[], ownTypes: OwnTypes): LessonFacts {
  return {
    title: content.lesson.title,
    language: content.lesson.language ?? null,
    ...totalsOf(content),
    estimatedDuration: estimatedDuration(content),
    playabilityErrors: playabilityErrors(content),
    outline: outlineOf(content, ownTypes),
    chunks: chunks.map(({ id, steps }) => ({ id, steps })),
  };
}
