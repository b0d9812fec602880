import type { Database } from '../models/database.ts';
import {
  findDraftById,
  findDraftStep,
  partsWithMedia,
  saveSkeleton,
  saveStep,
} from '../models/lesson-draft.ts';
import type { Author, DraftUse, LessonDraft } from '../models/lesson-draft.ts';
import type { LibraryFile } from '../models/library-file.ts';
import { findMedia, versionsWithFile } from '../models/medium.ts';
import type { VersionUse } from '../models/medium.ts';
import { findPrepared } from '../models/prepared-lesson.ts';
import type { ContentUses, UsePlace } from '../player/prepare-lesson.ts';

/** What the uses of a file list at most. */
const limits = { versions: 500, drafts: 200, lessons: 50 };

/** A lesson that uses a file. */
export interface LessonUse {
  lessonId: string;
  title: string;
  /** The newest version that has the file; null for none. */
  version: { id: string; number: number; places: UsePlace[] } | null;
  /** The steps of its draft that refer to the file: null stands for the skeleton. Null without such a draft. */
  draftSteps: (string | null)[] | null;
}

/** A part of a draft that refers to a file, by these ids. */
interface FileUse extends DraftUse {
  draft: LessonDraft;
  mediaIds: string[];
}

/**
 * Returns the lessons that use a file of the library, in a version or a draft.
 *
 * @returns isComplete false if there may be more
 */
export async function findFileUses(
  db: Database,
  file: LibraryFile,
): Promise<{ lessons: LessonUse[]; isComplete: boolean }> {
  const { organizationId } = file;
  const [inVersions, inDrafts] = await Promise.all([versionUses(db, file), draftUses(db, file)]);
  const ids = inVersions.map(({ versionId }) => versionId);
  const versions = await db.lessonVersions
    .find({ _id: { $in: ids }, organizationId }, { lessonId: 1, versionNumber: 1, title: 1 })
    .sort({ versionNumber: -1 })
    .lean<{ _id: string; lessonId: string; versionNumber: number; title: string }[]>()
    .exec();
  const newest = new Map<string, (typeof versions)[number]>();
  for (const one of versions) if (!newest.has(one.lessonId)) newest.set(one.lessonId, one);
  const lessonIds = [...new Set([...inDrafts.map(({ draft }) => draft.lessonId), ...newest.keys()])];
  const shown = lessonIds.slice(0, limits.lessons);
  const titles = await db.lessons
    .find({ _id: { $in: shown } }, { title: 1 })
    .lean<{ _id: string; title: string }[]>()
    .exec();
  const lessons: LessonUse[] = [];
  for (const lessonId of shown) {
    const version = newest.get(lessonId);
    const mediaIds = inVersions.find(({ versionId }) => versionId === version?._id)?.mediaIds ?? [];
    const steps = inDrafts.filter(({ draft }) => draft.lessonId === lessonId).map(({ stepId }) => stepId);
    lessons.push({
      lessonId,
      title: titles.find(({ _id }) => _id === lessonId)?.title ?? version?.title ?? '',
      version: version
        ? {
            id: version._id,
            number: version.versionNumber,
            places: await placesIn(db, version._id, mediaIds),
          }
        : null,
      draftSteps: steps.length > 0 ? steps : null,
    });
  }
  const isComplete =
    lessonIds.length <= limits.lessons && ids.length < limits.versions && inDrafts.length < limits.drafts;
  return { lessons, isComplete };
}

/** Returns whether drafts of the organization refer to a file. */
export async function isUsedByDraft(db: Database, file: LibraryFile): Promise<boolean> {
  return (await draftUses(db, file)).length > 0;
}

function versionUses(db: Database, { organizationId, asset }: LibraryFile): Promise<VersionUse[]> {
  return versionsWithFile(db, organizationId, asset.sha256, limits.versions);
}

/** Returns the places of a version that was prepared for players; none for another one. */
async function placesIn(db: Database, versionId: string, mediaIds: readonly string[]): Promise<UsePlace[]> {
  const text = await findPrepared(db, versionId, 'uses');
  if (text === null) return [];
  const { places } = JSON.parse((await text.expand()).toString('utf8')) as ContentUses;
  return mediaIds.flatMap((id) => places[id] ?? []);
}

/** Returns the parts of drafts that refer to a file: an id means what the version of the draft has under it. */
async function draftUses(db: Database, file: LibraryFile): Promise<FileUse[]> {
  const { organizationId, asset } = file;
  const known = (await versionUses(db, file)).flatMap(({ mediaIds }) => mediaIds);
  const ids = [...new Set([file._id, ...known])];
  const parts = await partsWithMedia(db, organizationId, ids, limits.drafts);
  const drafts = new Map<string, Pick<FileUse, 'draft' | 'mediaIds'>>();
  for (const draftId of new Set(parts.map((part) => part.draftId))) {
    const draft = await findDraftById(db, draftId);
    if (draft === null) continue;
    const media = await findMedia(db, { organizationId, versionId: draft.versionId }, ids);
    const mediaIds = ids.filter((id) => media.get(id)?.asset?.sha256 === asset.sha256);
    if (mediaIds.length > 0) drafts.set(draftId, { draft, mediaIds });
  }
  return parts.flatMap((part) => {
    const of = drafts.get(part.draftId);
    return of === undefined ? [] : [{ ...part, ...of }];
  });
}

/** How often a replacement builds on what another author has saved meanwhile. */
const maxTries = 3;

/**
 * Replaces a file by another one of the library: in all drafts of the organization, in that of a lesson, or in one step
 * of it. Versions keep their files.
 *
 * @returns the number of changed parts of drafts; isComplete false if a part could not be saved, or there may be more
 */
export async function replaceInDrafts(
  db: Database,
  file: LibraryFile,
  replacement: LibraryFile,
  {
    lessonId,
    stepId,
    author,
  }: { lessonId?: string | undefined; stepId?: string | undefined; author: Author },
): Promise<{ replaced: number; isComplete: boolean }> {
  const uses = await draftUses(db, file);
  const chosen = uses.filter(
    (use) =>
      (lessonId === undefined || use.draft.lessonId === lessonId) &&
      (stepId === undefined || use.stepId === stepId),
  );
  let replaced = 0;
  for (const use of chosen) if (await replaceInPart(db, use, replacement._id, author)) replaced += 1;
  return { replaced, isComplete: replaced === chosen.length && uses.length < limits.drafts };
}

/** Returns false if other authors save the part again and again. */
async function replaceInPart(
  db: Database,
  { draft: { _id: draftId }, stepId, mediaIds }: FileUse,
  by: string,
  savedBy: Author,
): Promise<boolean> {
  // The texts of a draft are JSON, in which an id has no escapes.
  const references = new RegExp(`media:(?:${mediaIds.join('|')})`, 'gi');
  const changed = (text: string) => text.replace(references, `media:${by}`);
  for (let tries = 0; tries < maxTries; tries += 1) {
    const draft = await findDraftById(db, draftId);
    if (draft === null) return false;
    if (stepId === null) {
      const { revision, skeleton } = draft;
      if (await saveSkeleton(db, draftId, { skeleton: changed(skeleton), revision, savedBy })) return true;
      continue;
    }
    const step = await findDraftStep(db, draftId, stepId);
    if (step === null) return false;
    const { revision, content } = step;
    if (await saveStep(db, draft, { stepId, content: changed(content), revision, savedBy })) return true;
  }
  return false;
}
