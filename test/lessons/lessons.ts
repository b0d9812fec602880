import { randomUUID } from 'node:crypto';
import type { VersionStatus } from '../../shared/models/lesson-version.ts';
import { insertVersion } from '../../shared/models/lesson-version.ts';
import { saveLesson } from '../../shared/models/lesson.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { Harness } from '../support/harness.ts';

export interface AddedLesson {
  lessonId: string;
  /** Version ids by number, from 1. */
  versionIds: string[];
}

/** A lesson with a version for each status and without content, which is enough for lists. */
export async function addLesson(
  { db }: Pick<Harness, 'db'>,
  { _id: organizationId }: Pick<Organization, '_id'>,
  statuses: VersionStatus[] = ['draft'],
): Promise<AddedLesson> {
  const [lessonId, versionIds] = [randomUUID(), statuses.map(() => randomUUID())];
  const [slug, title] = [`lesson-${lessonId}`, `Lesson ${lessonId}`];
  for (const [index, status] of statuses.entries()) {
    await insertVersion(db, {
      _id: versionIds[index] ?? '',
      lessonId,
      organizationId,
      versionNumber: index + 1,
      status,
      slug,
      title,
      totalSections: index + 1,
      totalSteps: 10 * (index + 1),
      picture: null,
      problems: [],
      widgets: [],
      contentBytes: 0,
      publishedAt: status === 'draft' ? null : new Date(Date.UTC(2026, 0, 1 + index)),
    });
  }
  await saveLesson(db, { _id: lessonId, organizationId, slug, title });
  return { lessonId, versionIds };
}
