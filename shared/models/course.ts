import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, upsertSafely, uuidField } from '../platform/mongo.ts';

/** A course of an LTI platform; launches without a context share one course per platform. */
export interface Course {
  _id: string;
  organizationId: string;
  platformId: string;
  contextId: string | null;
}

export interface CourseDb {
  courses: Model<Course>;
}

export const courseSchema = new Schema<Course>(
  {
    _id: uuidField,
    organizationId: { type: String, required: true },
    platformId: { type: String, required: true },
    contextId: { type: String, default: null },
  },
  schemaOptions,
);
courseSchema.index({ organizationId: 1, platformId: 1, contextId: 1 }, { unique: true });

/** Returns the id of a course: one UUID per platform and context, created on first use. */
export async function courseIdOf(
  db: CourseDb,
  { organizationId, platformId, contextId }: Omit<Course, '_id'>,
): Promise<string> {
  const course = await upsertSafely(() =>
    db.courses
      .findOneAndUpdate(
        { organizationId, platformId, contextId },
        { $setOnInsert: { _id: randomUUID() } },
        { upsert: true, returnDocument: 'after' },
      )
      .lean<Course>()
      .exec(),
  );
  return course._id;
}
