import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';
import { batched } from './batched.ts';

/** A lesson. Its slug and title are those of the newest version. */
export interface Lesson {
  _id: string;
  organizationId: string;
  slug: string;
  title: string;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
}

export interface LessonDb {
  lessons: Model<Lesson>;
}

export const lessonSchema = new Schema<Lesson>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    slug: { type: String, required: true },
    title: { type: String, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    deletedAt: { type: Date, default: null },
  },
  schemaOptions,
);
lessonSchema.index({ organizationId: 1, deletedAt: 1, updatedAt: -1, _id: 1 });
lessonSchema.index({ organizationId: 1, deletedAt: 1, createdAt: -1, _id: 1 });

/** Returns a lesson by its id, deleted or not, because ids are unique across organizations. */
export function findLesson(db: LessonDb, lessonId: string): Promise<Lesson | null> {
  return db.lessons.findById(lessonId).lean<Lesson>().exec();
}

/** Returns whether the organization has this lesson and has not deleted it. */
export async function lessonExists(db: LessonDb, organizationId: string, lessonId: string): Promise<boolean> {
  return (await findOwner(db, lessonId)) === organizationId;
}

/** Finds the organization of a lesson that is not deleted. */
const findOwner = batched(async (db: LessonDb, lessonIds: readonly string[]) => {
  const lessons = await db.lessons
    .find({ _id: { $in: [...new Set(lessonIds)] }, deletedAt: null })
    .select({ organizationId: 1 })
    .lean<Pick<Lesson, '_id' | 'organizationId'>[]>()
    .exec();
  const owners = new Map(lessons.map(({ _id, organizationId }) => [_id, organizationId]));
  return (lessonId) => owners.get(lessonId);
});

/** Returns the lessons of an organization, last changed first. */
export function listLessons(db: LessonDb, organizationId: string): Promise<Lesson[]> {
  return db.lessons
    .find({ organizationId, deletedAt: null })
    .sort({ updatedAt: -1, _id: 1 })
    .lean<Lesson[]>()
    .exec();
}

/**
 * Creates or updates a lesson; a deleted one is restored. Returns false without changes if another organization has a
 * lesson with that id.
 */
export async function saveLesson(
  db: LessonDb,
  fields: Pick<Lesson, '_id' | 'organizationId' | 'slug' | 'title'>,
): Promise<boolean> {
  const { _id, organizationId, slug, title } = fields;
  const now = new Date();
  const write = async (): Promise<boolean> => {
    try {
      await db.lessons.updateOne(
        { _id, organizationId },
        { $set: { slug, title, updatedAt: now, deletedAt: null }, $setOnInsert: { createdAt: now } },
        { upsert: true },
      );
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  };
  // Two concurrent imports may both insert it. The second attempt of the loser updates, unless another organization has
  // the lesson.
  return (await write()) || write();
}

/** Deletes a lesson immediately. False if there is none, or it was deleted before. */
export async function markLessonDeleted(db: LessonDb, lessonId: string): Promise<boolean> {
  const now = new Date();
  const { modifiedCount } = await db.lessons.updateOne(
    { _id: lessonId, deletedAt: null },
    { deletedAt: now, updatedAt: now },
  );
  return modifiedCount === 1;
}
