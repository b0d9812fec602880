import type { Asset } from '../../shared/media/asset-urls.ts';
import { DownloadError } from '../../shared/media/downloads/downloader.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { CachedMedium } from '../../shared/media/media-cache.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { findMedia } from '../../shared/models/medium.ts';
import type { FoundMedium } from '../../shared/models/medium.ts';
import type { Digest } from '../../shared/storage/store.ts';
import { checkWidgetFile, maxWidgetBytes, widgetMimeTypes } from '../../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../../shared/widgets/check-widget-file.ts';
import { findVersionWidgets, widgetFileSources } from '../../shared/widgets/version-widgets.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { UsesCache } from './content-uses.ts';
import { ExternalMedia } from './external-media.ts';
import type { ExternalMediaDependencies } from './external-media.ts';

export const mediaTexts = { unknown: 'Media file not found', unavailable: 'Media file not available' };
export const widgetTexts = {
  missing: 'Widget file is required',
  unknown: 'Widget not found',
  unavailable: 'Widget not available',
};

/** Finds the files that a player of a version may load: its media and its widgets. */
export class PlayerAssets {
  readonly #deps: ExternalMediaDependencies;
  readonly #uses: UsesCache;
  readonly #external: ExternalMedia;

  constructor(deps: ExternalMediaDependencies & { lessons: Pick<PreparedLessons, 'uses'> }) {
    this.#deps = deps;
    this.#uses = new UsesCache(deps.lessons);
    this.#external = new ExternalMedia(deps);
  }

  /**
   * Returns a media file of a version, with the same bytes as in an export. Downloads an external one if the cache
   * lacks it.
   *
   * @param options.isDraft whether it may be any of the organization, for a draft that began with the version
   * @throws {LecternError} NOT_FOUND when the version has no such media file, or it is unavailable.
   */
  async findMedium(
    version: LessonVersion,
    mediaId: string,
    { signal, isDraft }: { signal: AbortSignal; isDraft: boolean },
  ): Promise<Asset> {
    const medium = await this.#mediumOf(version, mediaId, isDraft);
    if (medium === null) throw new LecternError('NOT_FOUND', mediaTexts.unknown);
    const found = await this.#findFile(version, medium, signal);
    if (found === null) throw new LecternError('NOT_FOUND', mediaTexts.unavailable);
    return { ...found, fileName: `${mediaId}.${medium.extension}` };
  }

  /**
   * Returns a file of a widget that a version uses, with the same bytes as in an export. Downloads one with a URL if
   * the cache lacks it.
   *
   * @param options.isDraft as for {@link findMedium}
   * @throws {LecternError} NOT_FOUND when the version uses no such widget, or its file is unavailable.
   */
  async findWidgetFile(
    version: LessonVersion,
    type: string,
    kind: WidgetFileKind,
    { signal, isDraft }: { signal: AbortSignal; isDraft: boolean },
  ): Promise<Asset> {
    const widget = (await findVersionWidgets(this.#deps.db, version, [type])).get(type);
    const source = widget && widgetFileSources(widget)[kind];
    const uses =
      isDraft ||
      version.widgets.some((pin) => pin.type === type) ||
      (await this.#uses.usesWidget(version._id, type));
    if (widget === undefined || source === undefined || source === null || !uses) {
      throw new LecternError('NOT_FOUND', widgetTexts.unknown);
    }
    const fileName = `${widget.widgetId}.${kind}`;
    const mimeType = widgetMimeTypes[kind];
    if (source.asset !== null) return { ...inArea('assets', { ...source.asset, mimeType }), fileName };
    const { url } = source;
    const { organizationId } = version;
    const wanted = { organizationId, url, mimeType, maxBytes: maxWidgetBytes };
    const file = await this.#external.get(wanted, signal);
    if (file === null || !(await this.#isWidgetFile(file, kind, { organizationId, signal }))) {
      throw new LecternError('NOT_FOUND', widgetTexts.unavailable);
    }
    return { ...inArea('cache', { ...file, mimeType }), fileName };
  }

  /** Aborts all downloads. */
  close(): Promise<void> {
    return this.#external.close();
  }

  async #mediumOf(
    { _id, organizationId }: LessonVersion,
    mediaId: string,
    isDraft: boolean,
  ): Promise<FoundMedium | null> {
    const found = await findMedia(this.#deps.db, { organizationId, versionId: _id }, [mediaId]);
    const medium = found.get(mediaId);
    if (medium === undefined) return null;
    // A media file of another version belongs to this one only if its content refers to it.
    return medium.own || isDraft || (await this.#uses.refersToMedium(_id, mediaId)) ? medium : null;
  }

  async #findFile(
    { organizationId }: LessonVersion,
    { asset, sourceUrl, mimeType }: FoundMedium,
    signal: AbortSignal,
  ): Promise<Omit<Asset, 'fileName'> | null> {
    if (asset !== null) {
      return (await this.#deps.store.assets.has(asset)) ? inArea('assets', { ...asset, mimeType }) : null;
    }
    if (sourceUrl === null) return null;
    const file = await this.#external.get({ organizationId, url: sourceUrl, mimeType }, signal);
    return file && inArea('cache', file);
  }

  async #isWidgetFile(
    file: Digest,
    kind: WidgetFileKind,
    turn: { organizationId: string; signal: AbortSignal },
  ): Promise<boolean> {
    const { store, log } = this.#deps;
    try {
      await checkWidgetFile(store, file, kind, turn);
      return true;
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      log.warn({ reason: error.reason, detail: error.message }, 'a widget with a URL is invalid');
      return false;
    }
  }
}

function inArea(area: Asset['area'], { sha256, size, mimeType }: CachedMedium) {
  return { area, sha256, size, mimeType };
}
