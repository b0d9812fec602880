import { LecternError } from '../platform/errors.ts';
import type { LessonVersionDb } from './lesson-version.ts';
import type { MediumDb } from './medium.ts';
import type { Organization } from './organization.ts';
import type { WidgetReleaseDb } from './widget-release.ts';

type StoredBytesDb = LessonVersionDb & MediumDb & WidgetReleaseDb;

/**
 * Returns the bytes that an organization stores: media, widgets and contents of all versions, also of deleted lessons. It
 * reads a row for each media file. Archives and downloads do not count: Lectern evicts them.
 */
export async function sumStoredBytes(db: StoredBytesDb, organizationId: string): Promise<number> {
  const files = (of: string) => [
    { $match: { organizationId, [of]: { $ne: null } } },
    { $group: { _id: `$${of}.sha256`, size: { $first: `$${of}.size` } } },
    { $group: { _id: null, bytes: { $sum: '$size' } } },
  ];
  const sums = await Promise.all([
    db.media.aggregate<{ bytes: number }>(files('asset')).allowDiskUse(true),
    db.widgetReleases.aggregate<{ bytes: number }>(files('js')),
    db.widgetReleases.aggregate<{ bytes: number }>(files('css')),
    db.lessonVersions.aggregate<{ bytes: number }>([
      { $match: { organizationId } },
      { $group: { _id: null, bytes: { $sum: '$contentBytes' } } },
    ]),
  ]);
  return sums.flat().reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Checks that an organization may store more bytes. Concurrent imports may exceed the limit together, by one package each.
 *
 * @param defaultLimit for organizations without a limit of their own, in bytes; 0 for none
 * @throws {LecternError} PAYLOAD_TOO_LARGE
 */
export async function assertMayStore(
  db: StoredBytesDb,
  { _id, maxStoredBytes }: Pick<Organization, '_id' | 'maxStoredBytes'>,
  bytes: number,
  defaultLimit: number,
): Promise<void> {
  const limit = maxStoredBytes ?? defaultLimit;
  if (limit === 0) return;
  const stored = await sumStoredBytes(db, _id);
  if (stored + bytes <= limit) return;
  throw new LecternError(
    'PAYLOAD_TOO_LARGE',
    `Your organization may store ${limit} bytes and stores ${stored}: there is no room for ${bytes} more. Ask the operator for a higher limit.`,
  );
}
