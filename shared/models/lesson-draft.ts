import { Schema } from 'mongoose';
import type { Connection, Model, QueryFilter } from 'mongoose';
import { mediaReferences } from '../lessons/media-references.ts';
import { inTransaction, isDuplicate, schemaOptions } from '../platform/mongo.ts';
import type { AuditActor } from './audit-entry.ts';

/** Who saved a part of a draft: an API key by its public key, or a user by id. */
export type Author = Pick<AuditActor, 'type' | 'id'>;

/** When a part of a draft was saved last, and by which author. */
interface Saved {
  /** Counts the saves of this part, from 1. */
  revision: number;
  savedAt: Date;
  savedBy: Author;
}

/**
 * The lesson that authors work on, until they publish or discard it. Its steps are documents of their own, because a
 * lesson may be larger than a document, and so that authors of different steps do not meet.
 */
export interface LessonDraft extends Saved {
  _id: string;
  lessonId: string;
  organizationId: string;
  /** The newest version that was made of it, else the one that it began with. Its media and widgets by URL belong to the draft, too. */
  versionId: string;
  /** The JSON text of a lesson.json without the content of its steps. */
  skeleton: string;
  /** The ids of the media that the skeleton refers to. */
  mediaIds: string[];
  /** Counts the saves of all parts. */
  saves: number;
  createdAt: Date;
  /** False while its steps are stored or deleted: there is no draft then. */
  isComplete: boolean;
}

export interface DraftStep extends Saved {
  draftId: string;
  organizationId: string;
  /** Unique in the draft. Steps that the skeleton does not name are kept, so that authors can undo a deletion. */
  stepId: string;
  /** JSON text. */
  content: string;
  /** The size of the content. */
  bytes: number;
  /** The ids of the media that it refers to. */
  mediaIds: string[];
}

export interface LessonDraftDb {
  lessonDrafts: Model<LessonDraft>;
  draftSteps: Model<DraftStep>;
}

const saved = {
  revision: { type: Number, required: true },
  savedAt: { type: Date, required: true },
  savedBy: {
    type: new Schema<Author>({ type: { type: String }, id: String }, { _id: false }),
    required: true,
  },
};

export const lessonDraftSchema = new Schema<LessonDraft>(
  {
    _id: { type: String, required: true },
    lessonId: { type: String, required: true },
    organizationId: { type: String, required: true },
    versionId: { type: String, required: true },
    skeleton: { type: String, required: true },
    mediaIds: { type: [String], default: [] },
    saves: { type: Number, default: 0 },
    createdAt: { type: Date, required: true },
    isComplete: { type: Boolean, default: false },
    ...saved,
  },
  schemaOptions,
);
lessonDraftSchema.index({ lessonId: 1 }, { unique: true });
lessonDraftSchema.index({ organizationId: 1, mediaIds: 1 });

export const draftStepSchema = new Schema<DraftStep>(
  {
    draftId: { type: String, required: true },
    organizationId: { type: String, required: true },
    stepId: { type: String, required: true },
    content: { type: String, required: true },
    bytes: { type: Number, required: true },
    mediaIds: { type: [String], default: [] },
    ...saved,
  },
  schemaOptions,
);
draftStepSchema.index({ draftId: 1, stepId: 1 }, { unique: true });
draftStepSchema.index({ organizationId: 1, mediaIds: 1 });
// Has all that the sum of sizes needs.
draftStepSchema.index({ draftId: 1, stepId: 1, bytes: 1 });

/** A draft that its process did not complete within this time has been left by it. */
const leftAfterMs = 5 * 60_000;

/** Of so many media, Lectern knows which part of a draft refers to them. A step of usual size has a dozen. */
const maxMediaOfPart = 1_000;

function referencesIn(text: string): string[] {
  return mediaReferences(text).slice(0, maxMediaOfPart);
}

/** Creating a draft stores the steps in batches of at most so many characters, because a batch is one message. */
const batchCharacters = 8 * 1024 ** 2;

/**
 * Creates the draft of a lesson.
 *
 * @returns null if the lesson has one
 */
export async function createDraft(
  db: LessonDraftDb,
  draft: Pick<LessonDraft, '_id' | 'lessonId' | 'organizationId' | 'versionId' | 'skeleton'>,
  steps: readonly Pick<DraftStep, 'stepId' | 'content'>[],
  savedBy: Author,
): Promise<LessonDraft | null> {
  const { _id, lessonId, organizationId } = draft;
  const now = new Date();
  // Of a request that is repeated, or of a process that ended long ago.
  const left = [{ _id }, { savedAt: { $lt: new Date(now.getTime() - leftAfterMs) } }];
  await deleteDraft(db, { lessonId, isComplete: false, $or: left });
  const first = { revision: 1, savedAt: now, savedBy };
  try {
    const mediaIds = referencesIn(draft.skeleton);
    await db.lessonDrafts.create({ ...draft, mediaIds, ...first, createdAt: now });
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
  try {
    for (const batch of batches(steps))
      await db.draftSteps.insertMany(
        batch.map((step) => ({
          ...{ draftId: _id, organizationId, ...step, ...first },
          ...{ bytes: Buffer.byteLength(step.content), mediaIds: referencesIn(step.content) },
        })),
      );
    return await db.lessonDrafts
      .findOneAndUpdate({ _id }, { isComplete: true }, { returnDocument: 'after' })
      .lean<LessonDraft>()
      .exec();
  } catch (error) {
    await deleteDraft(db, { _id });
    throw error;
  }
}

function* batches<T extends Pick<DraftStep, 'content'>>(steps: readonly T[]): Generator<T[]> {
  let batch: T[] = [];
  let characters = 0;
  for (const step of steps) {
    if (characters > 0 && characters + step.content.length > batchCharacters) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(step);
    characters += step.content.length;
  }
  if (batch.length > 0) yield batch;
}

/** Returns the draft of a lesson; null if it has none. */
export function findDraft(
  db: LessonDraftDb,
  organizationId: string,
  lessonId: string,
): Promise<LessonDraft | null> {
  return db.lessonDrafts.findOne({ lessonId, organizationId, isComplete: true }).lean<LessonDraft>().exec();
}

/** Returns a draft by its id; null if it was published or discarded. */
export function findDraftById(db: LessonDraftDb, draftId: string): Promise<LessonDraft | null> {
  return db.lessonDrafts.findOne({ _id: draftId, isComplete: true }).lean<LessonDraft>().exec();
}

export function findDraftStep(db: LessonDraftDb, draftId: string, stepId: string): Promise<DraftStep | null> {
  return db.draftSteps.findOne({ draftId, stepId }).lean<DraftStep>().exec();
}

/** Returns the steps of a draft without their content. */
export function listDraftSteps(db: LessonDraftDb, draftId: string): Promise<Omit<DraftStep, 'content'>[]> {
  return db.draftSteps.find({ draftId }).select({ content: 0 }).lean<Omit<DraftStep, 'content'>[]>().exec();
}

/** The steps of a draft, also removed ones, have at most so many bytes together: those of the largest lesson. */
export const maxDraftBytes = 64 * 1024 ** 2;

/** Returns the size of the steps of a draft in bytes, except one. */
export async function sumDraftBytes(db: LessonDraftDb, draftId: string, except: string): Promise<number> {
  const [sum] = await db.draftSteps.aggregate<{ bytes: number }>([
    { $match: { draftId, stepId: { $ne: except } } },
    { $group: { _id: null, bytes: { $sum: '$bytes' } } },
  ]);
  return sum?.bytes ?? 0;
}

/** A save that names the revision on which it builds. */
interface Save {
  /** 0 for a step that is new. */
  revision: number;
  savedBy: Author;
}

/** Saves the skeleton of a draft. Null if the draft has another revision, or none. */
export function saveSkeleton(
  db: LessonDraftDb,
  draftId: string,
  { skeleton, revision, savedBy }: Save & Pick<LessonDraft, 'skeleton'>,
): Promise<LessonDraft | null> {
  return db.lessonDrafts
    .findOneAndUpdate(
      { _id: draftId, revision, isComplete: true },
      {
        $set: { skeleton, mediaIds: referencesIn(skeleton), savedBy, savedAt: new Date() },
        $inc: { revision: 1, saves: 1 },
      },
      { returnDocument: 'after' },
    )
    .lean<LessonDraft>()
    .exec();
}

/** Saves a step of a draft. Null if the step has another revision, or none, or the draft has ended. */
export async function saveStep(
  db: LessonDraftDb & { connection: Connection },
  { _id: draftId, organizationId }: Pick<LessonDraft, '_id' | 'organizationId'>,
  { stepId, content, revision, savedBy }: Save & Pick<DraftStep, 'stepId' | 'content'>,
): Promise<DraftStep | null> {
  const facts = { bytes: Buffer.byteLength(content), mediaIds: referencesIn(content) };
  const changes = { content, ...facts, savedBy, savedAt: new Date() };
  const first = { draftId, organizationId, stepId, ...changes, revision: 1 };
  try {
    // A publication deletes the draft unless it has been saved since: it sees both changes, or neither.
    return await inTransaction(db.connection, async (session) => {
      const open = { _id: draftId, isComplete: true };
      const counted = await db.lessonDrafts.updateOne(open, { $inc: { saves: 1 } }, { session });
      if (counted.matchedCount === 0) return null;
      if (revision === 0) return (await db.draftSteps.create([first], { session }))[0]?.toObject() ?? null;
      const saved = await db.draftSteps
        .findOneAndUpdate(
          { draftId, stepId, revision },
          { $set: changes, $inc: { revision: 1 } },
          { returnDocument: 'after', session },
        )
        .lean<DraftStep>()
        .exec();
      if (saved === null) await session.abortTransaction();
      return saved;
    });
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

/** Records the version that was made of a draft, and deletes the draft unless an author has saved since. */
export async function endDraft(
  db: LessonDraftDb,
  { draftId, saves, versionId }: { draftId: string; saves: number; versionId: string },
): Promise<void> {
  await db.lessonDrafts.updateOne({ _id: draftId }, { versionId });
  await deleteDraft(db, { _id: draftId, saves });
}

/** Deletes a draft, if one matches. Returns whether one did. */
export async function deleteDraft(db: LessonDraftDb, filter: QueryFilter<LessonDraft>): Promise<boolean> {
  const found = await db.lessonDrafts
    .findOneAndUpdate(filter, { isComplete: false })
    .lean<LessonDraft>()
    .exec();
  if (found === null) return false;
  // An interruption leaves an incomplete draft, which the next one replaces.
  await db.draftSteps.deleteMany({ draftId: found._id });
  await db.lessonDrafts.deleteOne({ _id: found._id });
  return true;
}

/** A part of a draft that refers to media: a step, or the skeleton (null). */
export interface DraftUse {
  draftId: string;
  stepId: string | null;
}

/** Returns the parts of an organization's drafts that refer to media, at most `limit`. */
export async function partsWithMedia(
  db: LessonDraftDb,
  organizationId: string,
  mediaIds: readonly string[],
  limit: number,
): Promise<DraftUse[]> {
  const filter = { organizationId, mediaIds: { $in: [...mediaIds] } };
  const [drafts, steps] = await Promise.all([
    db.lessonDrafts
      .find({ ...filter, isComplete: true }, { _id: 1 })
      .limit(limit)
      .lean<{ _id: string }[]>()
      .exec(),
    db.draftSteps.find(filter, { draftId: 1, stepId: 1 }).limit(limit).lean<DraftUse[]>().exec(),
  ]);
  return [
    ...drafts.map(({ _id }) => ({ draftId: _id, stepId: null })),
    ...steps.map(({ draftId, stepId }) => ({ draftId, stepId })),
  ].slice(0, limit);
}
