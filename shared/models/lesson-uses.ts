import { progressStatuses } from '../progress/state.ts';
import type { Database } from './database.ts';

/** How many records are counted at most: more say no more. */
export const maxCountedLearners = 10_000;

/** The links in the courses of a platform that launch a lesson. */
export interface PlatformLinks {
  platformId: string;
  /** Null for a platform without a name, or one that was removed. */
  name: string | null;
  issuer: string | null;
  links: number;
  lastLaunchAt: Date;
}

/** Who uses a lesson. */
export interface LessonUses {
  /** Records with activity since a time, up to {@link maxCountedLearners}. */
  learners: number;
  platforms: PlatformLinks[];
}

/** The maximum number of listed platforms; an organization has few. */
const maxPlatforms = 100;

/** Returns who uses a lesson, and who may miss it. @param since of the learners' activity */
export async function findLessonUses(
  db: Database,
  organizationId: string,
  lessonId: string,
  since: Date,
): Promise<LessonUses> {
  const active = {
    ...{ organizationId, lessonId, status: { $in: [...progressStatuses] } },
    lastActivityAt: { $gte: since },
  };
  const limit = { limit: maxCountedLearners };
  const [embedded, launched, platforms] = await Promise.all([
    db.embedProgress.countDocuments(active, limit),
    db.ltiProgress.countDocuments(active, limit),
    db.ltiResourceLinks.aggregate<PlatformLinks>([
      { $match: { organizationId, lessonId } },
      { $group: { _id: '$platformId', links: { $sum: 1 }, lastLaunchAt: { $max: '$lastLaunchAt' } } },
      { $lookup: { from: 'ltiPlatforms', localField: '_id', foreignField: '_id', as: 'platform' } },
      { $set: { platform: { $first: '$platform' } } },
      {
        $project: {
          ...{ _id: 0, platformId: '$_id', links: 1, lastLaunchAt: 1 },
          name: { $ifNull: ['$platform.name', null] },
          issuer: { $ifNull: ['$platform.issuer', null] },
        },
      },
    ]),
  ]);
  const listed = platforms.toSorted((a, b) => b.links - a.links).slice(0, maxPlatforms);
  return { learners: Math.min(embedded + launched, maxCountedLearners), platforms: listed };
}
