import { usedWidgetTypes } from '../shared/lessons/blocks.ts';
import { isCoreWidget } from '../shared/lessons/core-widgets.ts';
import { mediaReferences } from '../shared/lessons/media-references.ts';
import { playabilityErrors } from '../shared/lessons/playability.ts';
import { LecternError } from '../shared/errors.ts';
import type { Database } from '../shared/models/database.ts';
import { findContent } from '../shared/models/lesson-content.ts';
import type { LessonVersion } from '../shared/models/lesson-version.ts';
import { findMedia } from '../shared/models/medium.ts';
import { findNewestReleases } from '../shared/models/widget-release.ts';
import type { LessonContent } from '../shared/lessons/lesson-content.ts';

/** What a version refers to and Lectern does not know, one sentence each. It is played and exported without. */
export interface Missing {
  media: string[];
  widgets: string[];
}

/** What keeps a version from being played, and what it is played without. @throws {LecternError} NOT_FOUND */
export async function checkVersion(db: Database, version: LessonVersion) {
  const content = await contentOf(db, version);
  return { errors: playabilityErrors(content), missing: await missingIn(db, version, content) };
}

/** @throws {LecternError} NOT_FOUND */
export async function findMissing(db: Database, version: LessonVersion): Promise<Missing> {
  return missingIn(db, version, await contentOf(db, version));
}

async function contentOf(db: Database, version: LessonVersion): Promise<LessonContent> {
  const content = await findContent(db, version._id);
  if (content !== null) return content;
  throw new LecternError('NOT_FOUND', `The content of version ${version.versionNumber} is missing.`);
}

async function missingIn(db: Database, version: LessonVersion, content: LessonContent): Promise<Missing> {
  const { organizationId, _id: versionId } = version;
  const ids = mediaReferences(content);
  const media = await findMedia(db, { organizationId, versionId }, ids);
  const pinned = new Set(version.widgets.map((pin) => pin.type));
  const custom = usedWidgetTypes(content).filter((type) => !isCoreWidget(type) && !pinned.has(type));
  const registered = await findNewestReleases(db, organizationId, custom);
  return {
    media: ids.filter((id) => !media.has(id)).map((id) => `No medium is known under ${id}.`),
    widgets: custom
      .filter((type) => !registered.has(type))
      .map((type) => `No widget is registered for the type ${type}.`),
  };
}
