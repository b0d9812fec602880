import type { Database } from '../models/database.ts';
import { missingContent, requireContentParts } from '../models/lesson-content.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { findMedia } from '../models/medium.ts';
import type { FoundMedium } from '../models/medium.ts';
import { runTask } from '../platform/tasks.ts';
import type { TaskWait } from '../platform/tasks.ts';
import { findContentUses } from '../player/prepared-lessons.ts';
import { noChanges } from './version-changes.ts';
import type { ChangeCounts, ComparisonPart, VersionChange } from './version-changes.ts';

/** A response lists at most so many media files; it counts all. */
const maxMedia = 500;

/** A media file that was added, removed, or replaced under its id. */
export interface MediaChange {
  id: string;
  change: 'added' | 'removed' | 'replaced';
  mimeType: string;
}

export interface VersionComparison {
  summary: ChangeCounts & { media: Record<MediaChange['change'], number> };
  changes: VersionChange[];
  media: MediaChange[];
  /** False if there are more changes. */
  isComplete: boolean;
}

/**
 * Compares two versions of a lesson.
 *
 * @throws {LecternError} NOT_FOUND without their content; INVALID_CONTENT if they are too large; TOO_MANY_REQUESTS
 */
export async function compareVersions(
  db: Database,
  before: LessonVersion,
  after: LessonVersion,
  wait: TaskWait,
): Promise<VersionComparison> {
  const media = mediaChanges(await mediaOf(db, before, wait), await mediaOf(db, after, wait));
  const input = async () => ({
    before: await requireContentParts(db, before),
    after: await requireContentParts(db, after),
  });
  const { organizationId } = after;
  const what = `The comparison of versions ${before.versionNumber} and ${after.versionNumber}`;
  const parts = await runTask<ComparisonPart>('compareVersions', input, { what, organizationId, ...wait });
  const changes = parts.flatMap((part) => ('change' in part ? part.change : []));
  const end = parts.find((part) => 'summary' in part) ?? { summary: noChanges(), isComplete: true };
  const ofMedia = { added: 0, removed: 0, replaced: 0 };
  for (const { change } of media) ofMedia[change] += 1;
  return {
    summary: { ...end.summary, media: ofMedia },
    changes,
    media: media.slice(0, maxMedia),
    isComplete: end.isComplete && media.length <= maxMedia,
  };
}

async function mediaOf(
  db: Database,
  version: LessonVersion,
  wait: TaskWait,
): Promise<Map<string, FoundMedium>> {
  const { _id: versionId, organizationId } = version;
  const uses = (await findContentUses(db, versionId, wait)) ?? missingContent(version);
  return findMedia(db, { organizationId, versionId }, uses.media);
}

type ComparedMedium = Pick<FoundMedium, 'mimeType' | 'asset' | 'sourceUrl'>;

/** Compares media by id: a file by its digest, one at another host by its URL. */
export function mediaChanges(
  before: ReadonlyMap<string, ComparedMedium>,
  after: ReadonlyMap<string, ComparedMedium>,
): MediaChange[] {
  const isSame = (one: ComparedMedium, other: ComparedMedium) =>
    one.asset?.sha256 === other.asset?.sha256 && one.sourceUrl === other.sourceUrl;
  const found: MediaChange[] = [];
  for (const [id, medium] of after) {
    const { mimeType } = medium;
    const earlier = before.get(id);
    if (earlier === undefined) found.push({ id, change: 'added', mimeType });
    else if (!isSame(earlier, medium)) found.push({ id, change: 'replaced', mimeType });
  }
  for (const [id, { mimeType }] of before)
    if (!after.has(id)) found.push({ id, change: 'removed', mimeType });
  return found;
}
