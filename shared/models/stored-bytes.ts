import { LecternError } from '../platform/errors.ts';
import type { LessonVersionDb } from './lesson-version.ts';
import { libraryFileId } from './library-file.ts';
import type { LibraryFileDb } from './library-file.ts';
import type { Digest } from '../storage/store.ts';
import type { Organization } from './organization.ts';
import type { WidgetReleaseDb } from './widget-release.ts';

type StoredBytesDb = LessonVersionDb & LibraryFileDb & WidgetReleaseDb;

/**
 * Returns the bytes that an organization stores: its media library, which has the media of all versions, and widgets and
 * contents of all versions, also of deleted lessons. Archives and downloads do not count: Lectern evicts them.
 */
export async function sumStoredBytes(db: StoredBytesDb, organizationId: string): Promise<number> {
  const files = (of: string) => [
    { $match: { organizationId, [of]: { $ne: null } } },
    { $group: { _id: `$${of}.sha256`, size: { $first: `$${of}.size` } } },
    { $group: { _id: null, bytes: { $sum: '$size' } } },
  ];
  const sums = await Promise.all([
    db.libraryFiles.aggregate<{ bytes: number }>([
      { $match: { organizationId } },
      { $group: { _id: null, bytes: { $sum: '$asset.size' } } },
    ]),
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
 * Counts what an import adds to an organization's files. A file that the organization stores already adds nothing, so new
 * versions of a lesson cost only what is new. Concurrent imports may exceed the limit together, by one package each.
 */
export class StorageQuota {
  readonly #db: StoredBytesDb;
  readonly #organizationId: string;
  /** In bytes; 0 for none. */
  readonly #limit: number;
  readonly #stored: number;
  #added = 0;
  readonly #files = new Set<string>();

  private constructor(db: StoredBytesDb, organizationId: string, limit: number, stored: number) {
    this.#db = db;
    this.#organizationId = organizationId;
    this.#limit = limit;
    this.#stored = stored;
  }

  /**
   * Reads what an organization stores.
   *
   * @param defaultLimit for organizations without a limit of their own, in bytes; 0 for none
   */
  static async open(
    db: StoredBytesDb,
    { _id, maxStoredBytes }: Pick<Organization, '_id' | 'maxStoredBytes'>,
    defaultLimit: number,
  ): Promise<StorageQuota> {
    const limit = maxStoredBytes ?? defaultLimit;
    return new StorageQuota(db, _id, limit, limit === 0 ? 0 : await sumStoredBytes(db, _id));
  }

  /** @throws {LecternError} PAYLOAD_TOO_LARGE if these bytes and those added before exceed the limit. */
  add(bytes: number): void {
    this.#added += bytes;
    if (this.#limit === 0 || this.#stored + this.#added <= this.#limit) return;
    throw new LecternError(
      'PAYLOAD_TOO_LARGE',
      `Your organization may store ${this.#limit} bytes and stores ${this.#stored}: there is no room for ${this.#added} more. Ask the operator for a higher limit.`,
    );
  }

  /** Adds a file, unless it is stored. @throws {LecternError} PAYLOAD_TOO_LARGE */
  async addFile({ sha256, size }: Pick<Digest, 'sha256' | 'size'>): Promise<void> {
    if (this.#limit === 0 || this.#files.has(sha256)) return;
    this.#files.add(sha256);
    const { libraryFiles, widgetReleases } = this.#db;
    const found = await Promise.all([
      libraryFiles.exists({ _id: libraryFileId(this.#organizationId, sha256) }),
      widgetReleases.exists({ 'js.sha256': sha256, organizationId: this.#organizationId }),
      widgetReleases.exists({ 'css.sha256': sha256, organizationId: this.#organizationId }),
    ]);
    if (found.every((row) => row === null)) this.add(size);
  }
}
