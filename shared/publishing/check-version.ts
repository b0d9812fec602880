import { isCoreWidget } from '../lessons/core-widgets.ts';
import { maxInlineBytes } from '../lessons/media-references.ts';
import type { AuthoringWarning } from '../lessons/authoring.ts';
import type { PlayabilityError } from '../lessons/playability.ts';
import { quote } from '../lessons/json-values.ts';
import type { Database } from '../models/database.ts';
import { findExternalWidgets } from '../models/external-widget.ts';
import { missingContent, requireContentParts } from '../models/lesson-content.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { findMedia } from '../models/medium.ts';
import type { FoundMedium } from '../models/medium.ts';
import { findNewestReleases } from '../models/widget-release.ts';
import type { ContentUses } from '../player/prepare-lesson.ts';
import { findContentUses } from '../player/prepared-lessons.ts';
import { hostOf, isPublicAddress, literalAddress } from '../platform/http/ssrf-guard.ts';
import type { Config } from '../platform/config.ts';
import type { TaskWait } from '../platform/tasks.ts';
import { findContentFaults } from './content-faults.ts';
import { unavailableWidgets } from '../widgets/unavailable-widgets.ts';
import type { PartWarning, WidgetCheckDependencies } from '../widgets/unavailable-widgets.ts';

/** The result of a check, for the author of a version. */
export interface VersionCheck {
  /** The reasons why it cannot be played. */
  errors: PlayabilityError[];
  /** Missing parts, and the author's probable mistakes. */
  warnings: AuthoringWarning[];
  /** Media that are downloaded when the version is exported or played. */
  externalMedia: { id: string; sourceUrl: string }[];
}

/**
 * Checks a version, and downloads its widgets by URL to check them.
 *
 * @throws {LecternError} NOT_FOUND
 */
export async function checkVersion(
  {
    db,
    config,
    ...rest
  }: Omit<WidgetCheckDependencies, 'organizationId'> & {
    db: Database;
    config: Pick<Config, 'download'>;
  },
  version: LessonVersion,
  wait: Pick<TaskWait, 'wait'> = {},
): Promise<VersionCheck> {
  const { uses, media, missing } = await readVersion(db, version, wait);
  const content = await requireContentParts(db, version);
  const externalMedia = [...media].flatMap(([id, { asset, sourceUrl }]) =>
    asset === null && sourceUrl !== null ? [{ id, sourceUrl }] : [],
  );
  const byUrl = await findExternalWidgets(db, version._id, uses.widgetTypes);
  const { organizationId } = version;
  const blocked = blockedMedia(config, externalMedia);
  const missingParts = [...missing.media, ...missing.widgets, ...blocked];
  const unavailable = await unavailableWidgets({ ...rest, organizationId }, [...byUrl.values()]);
  const large = mediaOutsidePages(uses, media);
  const wanted = [...missingParts, ...unavailable, ...large].map(({ of }) => of);
  const faults = await findContentFaults(content, version, wanted, { ...wait, signal: rest.signal });
  const placed = ({ of, message }: PartWarning) => ({ message, place: faults.places.get(of) ?? null });
  const warnings = [
    ...[...missingParts, ...unavailable].map(placed),
    ...faults.warnings,
    ...large.map(placed),
  ];
  return { errors: faults.errors, warnings, externalMedia };
}

/** Returns a warning for each media file of a custom widget that is too large for an archive's page. */
function mediaOutsidePages({ customMedia }: ContentUses, media: ReadVersion['media']): PartWarning[] {
  return customMedia
    .filter((id) => (media.get(id)?.asset?.size ?? 0) > maxInlineBytes)
    .map((id) => ({
      of: id,
      message: `The media file ${id} of a custom widget is larger than 2 MB: an archive shows it on a web server, but not opened from a folder.`,
    }));
}

/** Returns a warning for each media file whose URL the SSRF guard rejects. */
export function blockedMedia(
  { download: { allowedPrivateHosts } }: Pick<Config, 'download'>,
  media: VersionCheck['externalMedia'],
): PartWarning[] {
  return media
    .filter(({ sourceUrl }) => isBlocked(new URL(sourceUrl), allowedPrivateHosts))
    .map(({ id, sourceUrl }) => ({
      of: id,
      message: `The media file ${id} is not downloaded: ${quote(sourceUrl)} is not a public address.`,
    }));
}

/** Checks IP addresses in URLs. The IP addresses of host names are known only during a download. */
function isBlocked(url: URL, allowedPrivateHosts: readonly string[]): boolean {
  const address = literalAddress(url);
  return address !== null && !isPublicAddress(address) && !allowedPrivateHosts.includes(hostOf(url));
}

/**
 * Returns a sentence for each unknown media file and widget that a version refers to. It plays without them.
 *
 * @throws {LecternError} NOT_FOUND; TOO_MANY_REQUESTS
 */
export async function findMissing(
  db: Database,
  version: LessonVersion,
  wait?: TaskWait,
): Promise<Record<'media' | 'widgets', string[]>> {
  const { missing } = await readVersion(db, version, wait);
  const messages = (warnings: PartWarning[]) => warnings.map(({ message }) => message);
  return { media: messages(missing.media), widgets: messages(missing.widgets) };
}

interface ReadVersion {
  uses: ContentUses;
  /** Its known media, by id. */
  media: Map<string, FoundMedium>;
  missing: Record<'media' | 'widgets', PartWarning[]>;
}

async function readVersion(db: Database, version: LessonVersion, wait?: TaskWait): Promise<ReadVersion> {
  const { organizationId, _id: versionId } = version;
  const uses = (await findContentUses(db, versionId, wait)) ?? missingContent(version);
  const ids = uses.media;
  const media = await findMedia(db, { organizationId, versionId }, ids);
  const pinned = new Set(version.widgets.map((pin) => pin.type));
  const custom = uses.widgetTypes.filter((type) => !isCoreWidget(type) && !pinned.has(type));
  const registered = await findNewestReleases(db, organizationId, custom);
  const external = await findExternalWidgets(db, versionId, custom);
  const missing = {
    media: ids
      .filter((id) => !media.has(id))
      .map((id) => ({ of: id, message: `The lesson refers to an unknown media file, ${id}.` })),
    widgets: custom
      .filter((type) => !registered.has(type) && !external.has(type))
      .map((type) => ({ of: type, message: `No widget is registered for the type ${type}.` })),
  };
  return { uses, media, missing };
}
