import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../models/database.ts';
import { requireContentParts } from '../models/lesson-content.ts';
import { createDraft, findDraftById, findDraftStep } from '../models/lesson-draft.ts';
import type { Author, LessonDraft } from '../models/lesson-draft.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { formatVersion } from '../packages/manifest.ts';
import { LecternError } from '../platform/errors.ts';
import { runTask } from '../platform/tasks.ts';
import type { TaskWait } from '../platform/tasks.ts';
import { joinLesson } from './lesson-parts.ts';
import type { LessonPart } from './lesson-parts.ts';

/**
 * Creates the draft of a lesson from one of its versions.
 *
 * @returns null if the lesson has one
 * @throws {LecternError} PAYLOAD_TOO_LARGE for a step over `maxPartBytes`; TOO_MANY_REQUESTS as {@link runTask} does
 */
export async function openDraft(
  db: Database,
  version: LessonVersion,
  { draftId, author, wait }: { draftId: string; author: Author; wait: TaskWait },
): Promise<LessonDraft | null> {
  const { _id: versionId, lessonId, organizationId } = version;
  const content = () => requireContentParts(db, version);
  const run = { what: `Opening the version ${versionId}`, organizationId, ...wait };
  const parts = await runTask<LessonPart>('lessonParts', content, run);
  let skeleton = '{}';
  const steps = parts.flatMap((part) => {
    if (!('skeleton' in part)) return [part];
    ({ skeleton } = part);
    return [];
  });
  return createDraft(db, { _id: draftId, lessonId, organizationId, versionId, skeleton }, steps, author);
}

/**
 * Writes a draft as a package without media, in a folder that is removed after its use.
 *
 * @throws {LecternError} NOT_FOUND if it was published or discarded; the signal's reason
 */
export async function withDraftPackage<T>(
  db: Database,
  draftId: string,
  signal: AbortSignal,
  use: (folder: string, draft: LessonDraft) => Promise<T>,
): Promise<T> {
  const draft = await findDraftById(db, draftId);
  if (draft === null) throw new LecternError('NOT_FOUND', 'The draft was published or discarded');
  const folder = await mkdtemp(join(tmpdir(), 'lectern-draft-'));
  try {
    const contentOf = async (stepId: string) => {
      signal.throwIfAborted();
      return (await findDraftStep(db, draftId, stepId))?.content ?? '{"content":[]}';
    };
    await writeFile(join(folder, 'lesson.json'), joinLesson(draft.skeleton, contentOf));
    const { lesson } = JSON.parse(draft.skeleton) as { lesson: { title: string } };
    const manifest = {
      ...{ lessonId: draft.lessonId, title: lesson.title, versionId: randomUUID(), versionNumber: 1 },
      ...{ formatVersion, files: {} },
    };
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
    return await use(folder, draft);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
