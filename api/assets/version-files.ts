import type { Context } from 'koa';
import { z } from 'zod';
import { signAssetAddress } from '../../shared/asset-addresses.ts';
import type { Asset } from '../../shared/asset-addresses.ts';
import { LecternError } from '../../shared/errors.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { AppDependencies } from '../dependencies.ts';
import { parseRequest } from '../parse-request.ts';

/** Signed addresses live for an hour or more: whoever is led to one has half an hour at least to fetch from it. */
const redirectSeconds = 1800;

export const mediaIdSchema = z
  .guid('Invalid media ID')
  .toLowerCase()
  .meta({ description: 'Id of the medium: what follows `media:` in the lesson.' });
export const widgetFile = /^(.+)\.(js|css)$/s;

/** The answers to who may have the files of a version: 302 to the signed address of one. */
export interface VersionFiles {
  /** @throws {LecternError} BAD_REQUEST for what is no id; NOT_FOUND as `PlayerAssets.findMedium`. */
  sendMedium(ctx: Context, version: LessonVersion, mediaId: unknown): Promise<void>;
  /** @param file such as "Heading.js". @throws {LecternError} BAD_REQUEST for none; NOT_FOUND as `findWidgetFile`. */
  sendWidget(ctx: Context, version: LessonVersion, file: unknown): Promise<void>;
}

export function versionFiles({
  config,
  secrets,
  playerAssets,
  sharing,
}: Pick<AppDependencies, 'config' | 'secrets' | 'playerAssets' | 'sharing'>): VersionFiles {
  const redirect = async (ctx: Context, { organizationId }: LessonVersion, asset: Asset) => {
    const { url, expiresAt } = signAssetAddress(secrets.asset, asset, { base: config.publicUrl });
    // It was looked for just now, so it is in use; what is uploaded stays anyway.
    if (asset.area === 'cache') {
      await sharing.uses.keepUntil([`cache:${asset.sha256}`], expiresAt);
      await sharing.uses.own(organizationId, [`cache:${asset.sha256}`]);
    }
    ctx.status = 302;
    ctx.set('Location', url);
    ctx.set('Cache-Control', `private, max-age=${redirectSeconds}`);
    ctx.body = '';
  };
  return {
    async sendMedium(ctx, version, mediaId) {
      const id = parseRequest(mediaIdSchema, mediaId, 'BAD_REQUEST');
      await redirect(
        ctx,
        version,
        await playerAssets.findMedium(version, id, ctx.state.signal as AbortSignal),
      );
    },
    async sendWidget(ctx, version, file) {
      if (file === undefined) throw new LecternError('BAD_REQUEST', 'Widget file is required');
      const [, type, kind] = widgetFile.exec(String(file)) ?? [];
      if (type === undefined) throw new LecternError('NOT_FOUND', 'Widget not found');
      await redirect(
        ctx,
        version,
        await playerAssets.findWidgetFile(version, type, kind === 'css' ? 'css' : 'js'),
      );
    },
  };
}
