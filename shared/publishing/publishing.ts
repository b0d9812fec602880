import { randomUUID } from 'node:crypto';
import { LecternError } from '../platform/errors.ts';
import type { LecternEvent } from '../events/event-types.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import type { Database } from '../models/database.ts';
import { findExternalWidgets } from '../models/external-widget.ts';
import { findLesson, markLessonDeleted } from '../models/lesson.ts';
import {
  findVersion,
  isPreviewable,
  markVersionPublished,
  markVersionsUnpublished,
} from '../models/lesson-version.ts';
import type { LessonVersion, WidgetPin } from '../models/lesson-version.ts';
import { findNewestReleases } from '../models/widget-release.ts';
import { changeWithEvents } from '../outgoing/publish-events.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { TaskWait } from '../platform/tasks.ts';
import { findContentUses } from '../player/prepared-lessons.ts';
import type { Store } from '../storage/store.ts';
import { bytesOf } from '../storage/digest.ts';
import { signPreviewToken } from '../tokens/player-tokens.ts';
import type { SignedToken } from '../tokens/player-tokens.ts';
import { readCoreBundle } from '../widgets/core-bundles.ts';
import { releaseWidget } from '../widgets/releases.ts';

/**
 * Publishes a version, so that it can be signed, loaded and exported, and pins the current widget releases. Does
 * nothing to a published version.
 *
 * @param options.force publish a lesson even if it cannot be played yet
 * @param options.wait how long it may wait for work on the lesson
 * @throws {LecternError} NOT_FOUND; INVALID_CONTENT with the reasons why the lesson cannot be played; TOO_MANY_REQUESTS
 */
export async function publishVersion(
  db: Database,
  store: Store,
  versionId: string,
  options: { force: boolean; wait?: TaskWait },
): Promise<LessonVersion> {
  const { version, widgetTypes } = await findWithUses(db, versionId, options.wait);
  if (version.status === 'published') return version;
  if (version.problems.length > 0 && !options.force) {
    throw new LecternError(
      'INVALID_CONTENT',
      `The lesson cannot be played yet: ${version.problems.join('; ')}. Correct it, or publish it anyway with --force.`,
    );
  }
  const pins = await pinWidgets(db, store, version, widgetTypes);
  const published = await changeWithEvents(
    db,
    { organizationId: version.organizationId, types: ['lesson.published'] },
    (session) => markVersionPublished(db, versionId, pins, session),
    (changed) => (changed === null ? [] : [publicationEvent('lesson.published', changed)]),
  );
  // Null if a concurrent request published it, with its own pins and time.
  return published ?? publishVersion(db, store, versionId, options);
}

function publicationEvent(
  type: 'lesson.published' | 'lesson.unpublished',
  { _id: versionId, organizationId, lessonId, versionNumber }: LessonVersion,
): LecternEvent {
  return {
    ...{ type, key: randomUUID(), at: new Date(), organizationId, lessonId, learnerId: null },
    data: { organizationId, lessonId, versionId, versionNumber },
  };
}

async function findWithUses(db: Database, versionId: string, wait?: TaskWait) {
  const version = await findVersion(db, versionId);
  const uses = version === null ? null : await findContentUses(db, versionId, wait);
  if (version === null || uses === null)
    throw new LecternError('NOT_FOUND', `There is no version ${versionId}.`);
  return { version, widgetTypes: uses.widgetTypes };
}

/**
 * Returns the release of each widget type that the version uses. Leaves out types without a release, which can be
 * registered later, and widgets that the package names by URL.
 */
async function pinWidgets(
  db: Database,
  store: Store,
  version: LessonVersion,
  types: string[],
): Promise<WidgetPin[]> {
  const external = await findExternalWidgets(db, version._id, types);
  const others = types.filter((type) => !external.has(type));
  const core = await releaseCoreWidgets(db, store, version, others);
  const pins = new Map([...version.widgets, ...core].map((pin) => [pin.type, pin]));
  const open = others.filter((type) => !isCoreWidget(type) && !pins.has(type));
  for (const { type, widgetId } of (await findNewestReleases(db, version.organizationId, open)).values()) {
    pins.set(type, { type, widgetId });
  }
  return [...pins.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/**
 * Stores the core widgets that a version uses, as this release of Lectern ships them, for publication and for previews
 * of drafts. Leaves out pinned ones.
 */
async function releaseCoreWidgets(
  db: Database,
  store: Store,
  version: Pick<LessonVersion, 'widgets'>,
  types: string[],
): Promise<WidgetPin[]> {
  const pinned = new Set(version.widgets.map(({ type }) => type));
  const pins: WidgetPin[] = [];
  for (const type of types.filter(isCoreWidget)) {
    if (pinned.has(type)) continue;
    const { js, css } = await readCoreBundle(type);
    const files = { js: bytesOf(js), css: css === null ? null : bytesOf(css) };
    const { widgetId } = await releaseWidget(db, store, { organizationId: null, type, ...files });
    pins.push({ type, widgetId });
  }
  return pins;
}

/**
 * Prepares a draft for a preview: stores the core widgets that it uses, as publishing would.
 *
 * @throws {LecternError} NOT_FOUND; INVALID_CONTENT for a version that was unpublished or cannot be played yet
 */
export async function preparePreview(
  db: Database,
  store: Store,
  versionId: string,
  wait?: TaskWait,
): Promise<LessonVersion> {
  const { version, widgetTypes } = await findWithUses(db, versionId, wait);
  const which = `Version ${version.versionNumber} of ${version.slug}`;
  if (!isPreviewable(version)) {
    throw new LecternError('INVALID_CONTENT', `${which} is ${version.status}. Publish it to preview it.`);
  }
  if (version.problems.length > 0) {
    const problems = version.problems.join('; ');
    throw new LecternError(
      'INVALID_CONTENT',
      `${which} cannot be played yet: ${problems}. See: lectern lesson check`,
    );
  }
  await releaseCoreWidgets(db, store, version, widgetTypes);
  return version;
}

/** Unpublishes one version, or all versions of a lesson. Returns the number of versions that were published. */
export async function unpublish(db: Database, lessonId: string, versionId?: string): Promise<number> {
  const lesson = await findLesson(db, lessonId);
  if (lesson === null) return 0;
  const { organizationId } = lesson;
  const unpublished = await changeWithEvents(
    db,
    { organizationId, types: ['lesson.unpublished'] },
    (session) =>
      markVersionsUnpublished(db, { lessonId, ...(versionId !== undefined && { versionId }) }, session),
    (versions) => versions.map((version) => publicationEvent('lesson.unpublished', version)),
  );
  return unpublished.length;
}

/** Deletes a lesson. Its versions stay, unpublished, for a later import. Returns false if there is no such lesson. */
export async function deleteLesson(db: Database, lessonId: string): Promise<boolean> {
  // The lesson is deleted first, so that no request can reach it even if the next step fails.
  const deleted = await markLessonDeleted(db, lessonId);
  await unpublish(db, lessonId);
  return deleted;
}

/**
 * Signs a token that previews a version for an hour and records nothing.
 *
 * @throws {LecternError} INVALID_CONTENT for a version that was unpublished or cannot be played yet; INTERNAL_ERROR if
 *   tokens are turned off; TOO_MANY_REQUESTS as {@link publishVersion}
 */
export async function signPreview(
  { db, store, signing }: { db: Database; store: Store } & Pick<Secrets, 'signing'>,
  { _id: versionId, lessonId, organizationId }: LessonVersion,
  wait?: TaskWait,
): Promise<SignedToken> {
  await preparePreview(db, store, versionId, wait);
  return signPreviewToken(signing, { organizationId, lessonId, versionId });
}
