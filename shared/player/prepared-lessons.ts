import { LRUCache } from 'lru-cache';
import { coreWidgetTypes } from '../lessons/core-widgets.ts';
import type { Database } from '../models/database.ts';
import { findContentParts } from '../models/lesson-content.ts';
import { attributionsOf, externalPicturesOf } from '../lessons/player-lesson.ts';
import { findMedia, listMediaOfVersion } from '../models/medium.ts';
import type { Medium } from '../models/medium.ts';
import { findVersion } from '../models/lesson-version.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { findOwnTypes } from '../widgets/version-widgets.ts';
import { findChunk, findPrepared, savePrepared } from '../models/prepared-lesson.ts';
import type { ChunkKind, PreparedKind, PreparedText } from '../models/prepared-lesson.ts';
import { GzipText } from '../platform/gzip-text.ts';
import { LimitExceeded } from '../platform/limited-process.ts';
import { runTask } from '../platform/tasks.ts';
import type { TaskWait } from '../platform/tasks.ts';
import type { ContentUses, LessonFacts, StoredLesson } from './prepare-lesson.ts';

/** The approximate bytes of memory that parsed facts take for each byte of their text. */
const factsFactor = 4;

/** How long a process does not try again to prepare a version that takes too much time or memory. */
const failureTtlMs = 600_000;

/**
 * The lessons of versions, prepared for players and immutable, like the content. An import prepares them; after an upgrade
 * that changes their format, the first load does, in a child process. MongoDB stores them, and the memory of the process
 * holds the texts that are loaded often, compressed.
 */
export class PreparedLessons {
  readonly #db: Database;
  readonly #wait: TaskWait;
  /** The preparations that are running, by version. */
  readonly #running = new Map<string, Promise<boolean>>();
  readonly #failures = new LRUCache<string, LimitExceeded>({ max: 1_000, ttl: failureTtlMs });
  readonly #facts: LRUCache<string, { facts: LessonFacts; bytes: number }>;
  readonly #texts: LRUCache<string, GzipText, { versionId: string; kind: TextKind }>;

  /**
   * @param maxBytes size of the cache in memory.
   * @param wait how long a load waits until a version is prepared.
   */
  constructor(db: Database, maxBytes: number, wait: TaskWait = {}) {
    this.#db = db;
    this.#wait = wait;
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

  /** Returns the facts about a version that has content. */
  async knownFacts(versionId: string): Promise<LessonFacts> {
    const facts = await this.facts(versionId);
    if (facts === undefined) throw new Error(`version ${versionId} has no content`);
    return facts;
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

  /** Returns what a version's content refers to; null if the version has no content. */
  uses(versionId: string): Promise<ContentUses | null> {
    return findUses(this.#db, versionId, () => this.#prepareOnce(versionId));
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
    const isPrepared = await this.#prepareOnce(versionId);
    return isPrepared ? ((await find(this.#db, versionId, kind)) ?? undefined) : undefined;
  }

  /** Prepares a version, unless a running call does, or a recent one found that it takes too much time or memory. */
  #prepareOnce(versionId: string): Promise<boolean> {
    const failure = this.#failures.get(versionId);
    if (failure !== undefined) throw failure;
    const call =
      this.#running.get(versionId) ??
      prepare(this.#db, versionId, this.#wait)
        .catch((error: unknown) => {
          if (error instanceof LimitExceeded) this.#failures.set(versionId, error);
          throw error;
        })
        .finally(() => this.#running.delete(versionId));
    this.#running.set(versionId, call);
    return call;
  }

  async #hasChunk(versionId: string, kind: ChunkKind): Promise<boolean> {
    const { chunks = [] } = (await this.facts(versionId)) ?? {};
    return chunks.some(({ id }) => kind === `chunk-${id}`);
  }
}

type TextKind = Exclude<PreparedKind, 'facts' | 'uses'>;

function find(db: Database, versionId: string, kind: PreparedKind): Promise<GzipText | null> {
  return isChunk(kind) ? findChunk(db, versionId, kind) : findPrepared(db, versionId, kind);
}

function isChunk(kind: PreparedKind): kind is ChunkKind {
  return kind.startsWith('chunk-');
}

/**
 * Returns what a version's content refers to; null if the version has no content.
 *
 * @param wait how long a version that is not prepared waits for its turn.
 */
export function findContentUses(
  db: Database,
  versionId: string,
  wait?: TaskWait,
): Promise<ContentUses | null> {
  return findUses(db, versionId, () => prepare(db, versionId, wait));
}

async function findUses(
  db: Database,
  versionId: string,
  prepareNow: () => Promise<boolean>,
): Promise<ContentUses | null> {
  const text =
    (await findPrepared(db, versionId, 'uses')) ??
    ((await prepareNow()) ? await findPrepared(db, versionId, 'uses') : null);
  return text && (JSON.parse((await text.expand()).toString('utf8')) as ContentUses);
}

/** Prepares a version and stores its texts. Returns false if the version has no content. */
async function prepare(db: Database, versionId: string, wait: TaskWait = {}): Promise<boolean> {
  const [parts, version] = await Promise.all([findContentParts(db, versionId), findVersion(db, versionId)]);
  if (parts === null || version === null) return false;
  const { organizationId } = version;
  const own = (await listMediaOfVersion(db, versionId)).map(({ mediaId, ...medium }) => ({
    id: mediaId,
    ...medium,
  }));
  const ownTypes = await findOwnTypes(db, version, coreWidgetTypes);
  const prepareWith = (media: DescribedMedium[]): Promise<PreparedText[]> => {
    const facts = { attributions: attributionsOf(media), externalPictures: externalPicturesOf(media) };
    const input: StoredLesson = { parts, ownTypes, media: facts };
    const run = { what: `Preparing the version ${versionId}`, organizationId, ...wait };
    return runTask<PreparedText>('prepareStored', input, run);
  };
  let texts = await prepareWith(own);
  const borrowed = await findBorrowed(db, version, own, texts);
  if (borrowed.length > 0) texts = await prepareWith([...own, ...borrowed]);
  for (const text of texts) await savePrepared(db, versionId, text);
  return true;
}

type DescribedMedium = Pick<Medium, 'mimeType' | 'sourceUrl' | 'attributions'> & { id: string };

/** Returns the media that a version's content refers to and that only earlier packages brought. */
async function findBorrowed(
  db: Database,
  { _id: versionId, organizationId }: LessonVersion,
  own: readonly DescribedMedium[],
  texts: readonly PreparedText[],
): Promise<DescribedMedium[]> {
  const uses = texts.find(({ kind }) => kind === 'uses');
  if (uses === undefined) return [];
  const { media } = JSON.parse((await new GzipText(uses.file).expand()).toString('utf8')) as ContentUses;
  const known = new Set(own.map(({ id }) => id));
  const others = media.filter((id) => !known.has(id));
  const found = await findMedia(db, { organizationId, versionId }, others);
  return [...found].map(([id, medium]) => ({ id, ...medium }));
}
