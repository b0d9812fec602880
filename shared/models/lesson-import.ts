import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import type { ResultCounts } from '../lessons/loss-report.ts';
import { leaseFields, noLease } from '../platform/lease.ts';
import type { Leased } from '../platform/lease.ts';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';

/**
 * `uploading` → `queued` → `importing` → one of the ends: `imported`, `failed`, `canceled`. An import that is retried is
 * `queued` again.
 */
export const importStates = ['uploading', 'queued', 'importing', 'imported', 'failed', 'canceled'] as const;
export type ImportState = (typeof importStates)[number];

/** The options of an import, as the command line has them. */
export interface RequestedImport {
  asNew: boolean;
  /** Adds the file to the media library, and imports no lesson. */
  asMedia: boolean;
  publish: boolean;
  force: boolean;
  mediaBaseUrl: string | null;
  /** The maximum number of questions in a step made of a question bank; null for the default. */
  questionsPerStep: number | null;
  /** Of a course, the number of the only module to import; null for the whole course. */
  module: number | null;
}

/** The result of an import, without the preview link of the command line. */
export interface ImportReport {
  lessonId: string;
  versionId: string;
  versionNumber: number;
  slug: string;
  published: boolean;
  media: number;
  widgets: number;
  warnings: string[];
  /** The converter of a source in another format, and how many of its elements have each result; null for a package. */
  conversion: ({ format: string } & ResultCounts) | null;
}

/** A package that is uploaded over HTTP, or a draft, and its import. Its id is also the id of the upload. */
export interface LessonImport extends Leased {
  _id: string;
  organizationId: string;
  state: ImportState;
  /** The name of the uploaded file, for messages. */
  fileName: string;
  /** The declared size of the upload, in bytes. */
  size: number;
  /** The header Upload-Metadata, which the tus protocol returns to clients. */
  metadata: string;
  options: RequestedImport;
  /** The draft that it publishes, and how often the draft was saved before; null for an uploaded package. */
  draft: { id: string; saves: number } | null;
  /** Files of the package that were imported, files in total, and bytes. */
  progress: { done: number; total: number; bytes: number };
  report: ImportReport | null;
  /** The file of the media library that it made; null for a lesson. */
  mediaFileId: string | null;
  error: { code: string; message: string } | null;
  /** Whether a running import has to stop. */
  isCancelRequested: boolean;
  /** The number of starts. Each start may have crashed its worker. */
  starts: number;
  /** Failed attempts that may be repeated. */
  failures: number;
  /** A queued import starts no earlier. */
  dueAt: Date;
  createdAt: Date;
  /** The last change of state, or the last bytes of the upload. */
  changedAt: Date;
  /** When the state became final; null before. */
  endedAt: Date | null;
  /** Whether the uploaded file may still exist. */
  hasUpload: boolean;
}

export interface LessonImportDb {
  lessonImports: Model<LessonImport>;
}

/** How long ended imports stay readable. */
const keptSeconds = 30 * 24 * 3600;

const plain = { _id: false, strict: 'throw' } as const;

export const lessonImportSchema = new Schema<LessonImport>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    state: { type: String, required: true, enum: importStates, default: 'uploading' },
    fileName: { type: String, required: true },
    size: { type: Number, required: true },
    metadata: { type: String, default: '' },
    options: new Schema<RequestedImport>(
      {
        asNew: Boolean,
        asMedia: { type: Boolean, default: false },
        publish: Boolean,
        force: Boolean,
        mediaBaseUrl: { type: String, default: null },
        questionsPerStep: { type: Number, default: null },
        module: { type: Number, default: null },
      },
      plain,
    ),
    draft: { type: new Schema({ id: String, saves: Number }, plain), default: null },
    progress: {
      type: new Schema({ done: Number, total: Number, bytes: Number }, plain),
      default: { done: 0, total: 0, bytes: 0 },
    },
    report: {
      type: new Schema<ImportReport>(
        {
          lessonId: String,
          versionId: String,
          versionNumber: Number,
          slug: String,
          published: Boolean,
          media: Number,
          widgets: Number,
          warnings: [String],
          conversion: {
            type: new Schema(
              { format: String, converted: Number, partial: Number, kept: Number, dropped: Number },
              plain,
            ),
            default: null,
          },
        },
        plain,
      ),
      default: null,
    },
    mediaFileId: { type: String, default: null },
    error: { type: new Schema({ code: String, message: String }, plain), default: null },
    isCancelRequested: { type: Boolean, default: false },
    starts: { type: Number, default: 0 },
    failures: { type: Number, default: 0 },
    dueAt: { type: Date, required: true, default: () => new Date() },
    createdAt: { type: Date, required: true, default: () => new Date() },
    changedAt: { type: Date, required: true, default: () => new Date() },
    endedAt: { type: Date, default: null },
    hasUpload: { type: Boolean, default: true },
    ...leaseFields,
  },
  schemaOptions,
);
lessonImportSchema.index({ organizationId: 1, createdAt: -1 });
lessonImportSchema.index({ state: 1, changedAt: 1 });
const partialFilterExpression = { hasUpload: true };
lessonImportSchema.index({ hasUpload: 1, endedAt: 1 }, { partialFilterExpression });
lessonImportSchema.index({ organizationId: 1, hasUpload: 1 }, { partialFilterExpression });
lessonImportSchema.index({ endedAt: 1 }, { expireAfterSeconds: keptSeconds });
lessonImportSchema.index(
  { 'draft.id': 1 },
  { unique: true, partialFilterExpression: { 'draft.id': { $type: 'string' }, endedAt: null } },
);

export type NewImport = Pick<
  LessonImport,
  '_id' | 'organizationId' | 'fileName' | 'size' | 'metadata' | 'options'
>;

/** Inserts an import that waits for its upload. Fails with a duplicate key if the id is taken. */
export async function insertImport(db: LessonImportDb, fields: NewImport): Promise<LessonImport> {
  return (await db.lessonImports.create(fields)).toObject();
}

/** Inserts an import that makes a version of a draft. Null if another one has not ended. */
export async function queueDraftImport(
  db: LessonImportDb,
  fields: Pick<LessonImport, '_id' | 'organizationId' | 'fileName' | 'options' | 'draft'>,
): Promise<LessonImport | null> {
  try {
    const queued = { ...fields, state: 'queued', size: 0, hasUpload: false } as const;
    return (await db.lessonImports.create(queued)).toObject();
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

/** Returns an import of an organization, or of any; null if there is none. */
export function findImport(
  db: LessonImportDb,
  id: string,
  organizationId?: string,
): Promise<LessonImport | null> {
  return db.lessonImports
    .findOne({ _id: id, ...(organizationId !== undefined && { organizationId }) })
    .lean<LessonImport>()
    .exec();
}

/** Returns the newest imports of an organization. */
export function listImports(
  db: LessonImportDb,
  organizationId: string,
  limit: number,
): Promise<LessonImport[]> {
  return db.lessonImports
    .find({ organizationId })
    .sort({ createdAt: -1 })
    .limit(limit)
    .lean<LessonImport[]>()
    .exec();
}

/** Returns the number and the declared bytes of imports whose upload takes space: of an organization, or of all. */
export async function sumOpenImports(
  db: LessonImportDb,
  organizationId?: string,
): Promise<{ count: number; bytes: number }> {
  const [sum] = await db.lessonImports.aggregate<{ count: number; bytes: number }>([
    {
      $match: { ...(organizationId !== undefined && { organizationId }), hasUpload: true },
    },
    { $group: { _id: null, count: { $sum: 1 }, bytes: { $sum: '$size' } } },
  ]);
  return { count: sum?.count ?? 0, bytes: sum?.bytes ?? 0 };
}

/** Deletes an import that no client has seen. */
export async function deleteImport(db: LessonImportDb, id: string): Promise<void> {
  await db.lessonImports.deleteOne({ _id: id });
}

/** Records that bytes of an upload arrived. */
export async function touchUpload(db: LessonImportDb, id: string): Promise<void> {
  await db.lessonImports.updateOne({ _id: id, state: 'uploading' }, { $set: { changedAt: new Date() } });
}

/** Queues an import whose upload is complete, unless it is queued already. */
export async function queueImport(db: LessonImportDb, id: string): Promise<void> {
  const now = new Date();
  await db.lessonImports.updateOne(
    { _id: id, state: 'uploading' },
    { $set: { state: 'queued', changedAt: now, dueAt: now } },
  );
}

/** Yields imports whose uploads have received no bytes since a given time, oldest first. */
export function quietUploads(db: LessonImportDb, before: Date): AsyncIterable<LessonImport> {
  return db.lessonImports
    .find({ state: 'uploading', changedAt: { $lt: before } })
    .sort({ changedAt: 1 })
    .lean<LessonImport>()
    .cursor();
}

/** Ends an upload, unless it is complete. Returns whether it did. */
export async function endUpload(
  db: LessonImportDb,
  id: string,
  end: Pick<LessonImport, 'state' | 'error'>,
): Promise<boolean> {
  return endIf(db, { _id: id, state: 'uploading' }, end);
}

/**
 * Cancels an import. A queued one ends at once; a running one stops within seconds.
 *
 * @returns the state before.
 */
export async function cancelImport(db: LessonImportDb, id: string): Promise<ImportState | null> {
  for (const state of ['uploading', 'queued'] as const) {
    if (await endIf(db, { _id: id, state }, { state: 'canceled', error: null })) return state;
  }
  const running = await db.lessonImports
    .findOneAndUpdate({ _id: id, state: 'importing' }, { $set: { isCancelRequested: true } })
    .lean<LessonImport>()
    .exec();
  return running?.state ?? (await findImport(db, id))?.state ?? null;
}

/** Ends an import if it matches. Returns whether it did. */
export async function endIf(
  db: LessonImportDb,
  filter: { _id: string; state?: ImportState; leaseId?: string },
  end: Partial<Pick<LessonImport, 'state' | 'error' | 'report' | 'mediaFileId' | 'progress'>>,
): Promise<boolean> {
  const now = new Date();
  const { modifiedCount } = await db.lessonImports.updateOne(filter, {
    $set: { ...end, ...noLease, changedAt: now, endedAt: now },
  });
  return modifiedCount === 1;
}

/** Returns ended imports whose uploaded file may still exist. */
export function listLeftUploads(db: LessonImportDb, limit: number): Promise<LessonImport[]> {
  return db.lessonImports
    .find({ hasUpload: true, endedAt: { $ne: null } })
    .limit(limit)
    .lean<LessonImport[]>()
    .exec();
}

/** Records that the uploaded file of an import is deleted. */
export async function markUploadDeleted(db: LessonImportDb, id: string): Promise<void> {
  await db.lessonImports.updateOne({ _id: id }, { $set: { hasUpload: false } });
}
