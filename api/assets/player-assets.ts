import type { Asset } from '../../shared/asset-addresses.ts';
import { LecternError } from '../../shared/errors.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { findMedia } from '../../shared/models/medium.ts';
import type { FoundMedium } from '../../shared/models/medium.ts';
import type { Digest } from '../../shared/storage/store.ts';
import { findVersionReleases } from '../../shared/widgets/version-releases.ts';
import { ContentUses } from './content-uses.ts';
import { ExternalMedia } from './external-media.ts';
import type { ExternalMediaDependencies } from './external-media.ts';

const widgetMimeTypes = { js: 'text/javascript', css: 'text/css' } as const;
export type WidgetFileKind = keyof typeof widgetMimeTypes;

/** The files that a player of one version may have: its media, and its widgets. */
export class PlayerAssets {
  readonly #deps: ExternalMediaDependencies;
  readonly #uses: ContentUses;
  readonly #external: ExternalMedia;

  constructor(deps: ExternalMediaDependencies) {
    this.#deps = deps;
    this.#uses = new ContentUses(deps.db);
    this.#external = new ExternalMedia(deps);
  }

  /**
   * A medium of a version, the same that an export of it holds. An external one is fetched when it is not there yet.
   *
   * @throws {LecternError} NOT_FOUND when the version has no such medium, or its file cannot be had.
   */
  async findMedium(version: LessonVersion, mediaId: string, signal: AbortSignal): Promise<Asset> {
    const medium = await this.#mediumOf(version, mediaId);
    if (medium === null) throw new LecternError('NOT_FOUND', 'Media file not found');
    const found = await this.#findFile(medium, signal);
    if (found === null) throw new LecternError('NOT_FOUND', 'Media file not available');
    const { mimeType, extension } = medium;
    return { ...found, mimeType, fileName: `${mediaId}.${extension}` };
  }

  /**
   * A file of the widget release that a version uses, the same that an export of it holds.
   *
   * @throws {LecternError} NOT_FOUND when the version uses no such widget, or it has no such file.
   */
  async findWidgetFile(version: LessonVersion, type: string, kind: WidgetFileKind): Promise<Asset> {
    const release = (await findVersionReleases(this.#deps.db, version, [type])).get(type);
    const file = release?.[kind] ?? null;
    const uses =
      version.widgets.some((pin) => pin.type === type) || (await this.#uses.usesWidget(version._id, type));
    if (release === undefined || file === null || !uses) {
      throw new LecternError('NOT_FOUND', 'Widget not found');
    }
    const { sha256, size } = file;
    const fileName = `${release.widgetId}.${kind}`;
    return { area: 'assets', sha256, size, mimeType: widgetMimeTypes[kind], fileName };
  }

  /** Ends the downloads under way. */
  close(): Promise<void> {
    return this.#external.close();
  }

  async #mediumOf({ _id, organizationId }: LessonVersion, mediaId: string): Promise<FoundMedium | null> {
    const found = await findMedia(this.#deps.db, { organizationId, versionId: _id }, [mediaId]);
    const medium = found.get(mediaId);
    if (medium === undefined) return null;
    // One that another version brought is this one's only where its content says so.
    return medium.own || (await this.#uses.refersToMedium(_id, mediaId)) ? medium : null;
  }

  async #findFile(
    { asset, sourceUrl, mimeType }: FoundMedium,
    signal: AbortSignal,
  ): Promise<Pick<Asset, 'area' | 'sha256' | 'size'> | null> {
    if (asset !== null) return (await this.#deps.store.assets.has(asset)) ? inArea('assets', asset) : null;
    if (sourceUrl === null) return null;
    const file = await this.#external.get({ url: sourceUrl, mimeType }, signal);
    return file && inArea('cache', file);
  }
}

function inArea(area: Asset['area'], { sha256, size }: Digest) {
  return { area, sha256, size };
}
