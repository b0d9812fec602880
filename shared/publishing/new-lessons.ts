import { randomUUID } from 'node:crypto';
import { message } from '../i18n/message.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { copyExternalWidgets } from '../models/external-widget.ts';
import type { Database } from '../models/database.ts';
import { contentParts } from '../models/gzip-parts.ts';
import { requireContentParts, insertContent, markContentFinished } from '../models/lesson-content.ts';
import { saveLesson } from '../models/lesson.ts';
import { deleteVersion, findVersion, insertVersion } from '../models/lesson-version.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { copyMedia } from '../models/medium.ts';
import type { Organization } from '../models/organization.ts';
import { StorageQuota } from '../models/stored-bytes.ts';
import { slugFrom } from '../packages/lesson-json.ts';
import { removeImport } from '../packages/unfinished-imports.ts';
import type { Config } from '../platform/config.ts';
import { runTask } from '../platform/tasks.ts';
import type { TaskWait } from '../platform/tasks.ts';
import type { CopyFields } from './copy-content.ts';

interface NewLessonDependencies {
  db: Database;
  config: Pick<Config, 'import'>;
}

/**
 * Creates a lesson with a draft that can be played: one section with one step, in the language of the lesson.
 *
 * @param versionId the id of the version; a second call with it changes nothing
 * @throws {LecternError} PAYLOAD_TOO_LARGE if the organization may not store more
 */
export async function createLesson(
  deps: NewLessonDependencies,
  organization: Organization,
  versionId: string,
  { title, language }: { title: string; language: string },
): Promise<LessonVersion> {
  const fields = fieldsOf(title);
  return insertFirst(deps, organization, versionId, {
    ...fields,
    content: await contentParts(starterContent(fields, language)),
    source: null,
  });
}

/**
 * Creates a lesson with a draft that has the content of a version. Media files are not copied: both versions name the same
 * ones in the store.
 *
 * @param versionId as in {@link createLesson}
 * @throws {LecternError} as {@link createLesson}; NOT_FOUND without the content; TOO_MANY_REQUESTS
 */
export async function copyVersion(
  deps: NewLessonDependencies,
  organization: Organization,
  versionId: string,
  { source, title }: { source: LessonVersion; title: string },
  wait: TaskWait,
): Promise<LessonVersion> {
  const fields = fieldsOf(title);
  const parts = await requireContentParts(deps.db, source);
  const run = { what: `Copying the version ${source._id}`, organizationId: organization._id, ...wait };
  const content = await runTask<Buffer>('copyContent', { parts, fields }, run);
  return insertFirst(deps, organization, versionId, { ...fields, content, source });
}

function fieldsOf(title: string): CopyFields {
  const lessonId = randomUUID();
  return { lessonId, title, slug: slugFrom(title) ?? `lesson-${lessonId.slice(0, 8)}` };
}

async function insertFirst(
  { db, config }: NewLessonDependencies,
  organization: Organization,
  versionId: string,
  {
    lessonId,
    slug,
    title,
    content,
    source,
  }: CopyFields & { content: Buffer[]; source: LessonVersion | null },
): Promise<LessonVersion> {
  const earlier = await findVersion(db, versionId);
  if (earlier !== null) return finish(db, earlier);
  const contentBytes = content.reduce((sum, { length }) => sum + length, 0);
  const quota = await StorageQuota.open(db, organization, config.import.maxStoredBytes);
  quota.add(contentBytes);
  // What an interrupted request has left of this version.
  await removeImport(db, versionId);
  // The content first, and the version last, as of an import: the sweep finds unfinished ones by their content.
  await insertContent(db, versionId, content);
  try {
    if (source !== null) {
      await copyMedia(db, source._id, versionId);
      await copyExternalWidgets(db, source._id, versionId);
    }
    const { totalSections, totalSteps, problems, picture } = source ?? starterFacts;
    const version = await insertVersion(db, {
      ...{ _id: versionId, lessonId, organizationId: organization._id, versionNumber: 1, status: 'draft' },
      ...{ slug, title, totalSections, totalSteps, problems, picture, contentBytes, publishedAt: null },
      // Publishing pins the core widgets of this release.
      widgets: source?.widgets.filter(({ type }) => !isCoreWidget(type)) ?? [],
    });
    return await finish(db, version);
  } catch (error) {
    await deleteVersion(db, versionId);
    await removeImport(db, versionId);
    throw error;
  }
}

async function finish(db: Database, version: LessonVersion): Promise<LessonVersion> {
  const { _id: versionId, lessonId, organizationId, slug, title } = version;
  await markContentFinished(db, versionId);
  await saveLesson(db, { _id: lessonId, organizationId, slug, title });
  return version;
}

const starterFacts = { totalSections: 1, totalSteps: 1, problems: [], picture: null };

function starterContent({ lessonId, slug, title }: CopyFields, language: string): LessonContent {
  const text = message(language, 'starter.text');
  const content = [{ type: 'Text', props: { id: randomUUID(), html: `<p>${text}</p>` } }];
  const step = {
    ...{ id: randomUUID(), title: message(language, 'starter.step'), order_index: 0 },
    content: { content, root: { props: {} } },
  };
  const section = {
    ...{ id: randomUUID(), title: message(language, 'starter.section'), order_index: 0 },
    steps: [step],
  };
  return {
    lesson: {
      ...{ id: lessonId, slug, title, language, status: 'draft' },
      ...{ variable_definitions: [], widget_settings: { overrides: {} } },
    },
    sections: [section],
    ...{ totalSections: 1, totalSteps: 1 },
  };
}
