import { z } from 'zod';
import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import type { Asset } from '../../shared/media/asset-urls.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { parseRequest } from '../http/endpoint.ts';
import { failure } from '../http/responses.ts';
import type { WrittenResponse } from '../http/responses.ts';
import { nothingToPlayText } from '../player/authorize.ts';
import { mediaTexts, widgetTexts } from './player-assets.ts';
import type { PlayerAssets } from './player-assets.ts';

/** How long caches may keep a redirect. They never keep it during the last half hour of the target URL. */
const redirectSeconds = 1800;
const reservedSeconds = 1800;

export const mediaIdSchema = z
  .guid('Invalid media ID')
  .toLowerCase()
  .meta({ description: 'Id of the media file: what follows `media:` in the lesson.' });
export const widgetFile = /^(.+)\.(js|css)$/s;

/**
 * Redirects authorized clients to signed URLs of a version's files. By default, a URL expires after an hour or more.
 */
export interface VersionFiles {
  /** @throws {LecternError} BAD_REQUEST for an invalid id; NOT_FOUND as `PlayerAssets.findMedium`. */
  sendMedium(
    ctx: EndpointContext,
    version: LessonVersion,
    mediaId: unknown,
    options?: FileOptions,
  ): Promise<void>;
  /**
   * @param file such as "Heading.js".
   * @throws {LecternError} BAD_REQUEST without a file; NOT_FOUND as `findWidgetFile`.
   */
  sendWidget(
    ctx: EndpointContext,
    version: LessonVersion,
    file: unknown,
    options?: FileOptions,
  ): Promise<void>;
}

interface FileOptions {
  /** When the URL expires. */
  until?: Date;
  /** Whether the file may be one that the version does not use, but its organization has. */
  isDraft?: boolean;
}

export interface VersionFilesDependencies {
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'asset'>;
  playerAssets: PlayerAssets;
}

export const redirect: WrittenResponse = {
  kind: 'written',
  description:
    'A signed URL of the file. Redirects with a token are valid for 60 to 90 minutes, those with a signed URL until ' +
    'that URL expires.',
  content: {},
  headers: {
    Location: z.string().meta({
      description: 'The signed URL: absolute if the service knows its public URL, else a path.',
      examples: [
        '/assets/v1/assets/cd15…ff77/73040/image/png/1619c428.png?expires=1795258800&signature=Zk3…',
      ],
    }),
    'Cache-Control': z
      .string()
      .regex(/^private, max-age=\d+$/)
      .meta({
        description:
          'Caches may keep the redirect for half an hour, but not in the last half hour of its URL.',
        examples: ['private, max-age=1800'],
      }),
  },
};

export const mediumNotFound = failure(
  'There is nothing to play, the version has no such media file, or the file is unavailable now.',
  nothingToPlayText,
  mediaTexts.unknown,
  mediaTexts.unavailable,
);

export const widgetNotFound = failure(
  'There is nothing to play or the version uses no such widget, or the widget lacks the file or its source does not ' +
    'provide it.',
  nothingToPlayText,
  widgetTexts.unknown,
  widgetTexts.unavailable,
);

export const mediaParams = z.object({ mediaId: mediaIdSchema });
export const widgetParams = z.object({
  file: z
    .string()
    .regex(widgetFile)
    .meta({ description: 'The type of the block, and `.js` or `.css`.', examples: ['MultipleChoice.js'] }),
});

export function versionFiles({ config, secrets, playerAssets }: VersionFilesDependencies): VersionFiles {
  const sendRedirect = (ctx: EndpointContext, asset: Asset, until: Date | undefined) => {
    const options = { base: config.publicUrl, ...(until && { until }) };
    const { url, expiresAt } = signAssetUrl(secrets.asset, asset, options);
    ctx.status = 302;
    ctx.set('Location', url);
    const left = Math.floor((expiresAt.getTime() - Date.now()) / 1000) - reservedSeconds;
    ctx.set('Cache-Control', `private, max-age=${Math.max(0, Math.min(left, redirectSeconds))}`);
    ctx.body = '';
  };
  return {
    async sendMedium(ctx, version, mediaId, { until, isDraft = false } = {}) {
      const id = parseRequest(mediaIdSchema, mediaId, 'BAD_REQUEST');
      const asset = await playerAssets.findMedium(version, id, { signal: ctx.state.signal, isDraft });
      sendRedirect(ctx, asset, until);
    },
    async sendWidget(ctx, version, file, { until, isDraft = false } = {}) {
      if (file === undefined) throw new LecternError('BAD_REQUEST', widgetTexts.missing);
      const [, type, kind] = widgetFile.exec(typeof file === 'string' ? file : '') ?? [];
      if (type === undefined) throw new LecternError('NOT_FOUND', widgetTexts.unknown);
      const asset = await playerAssets.findWidgetFile(version, type, kind === 'css' ? 'css' : 'js', {
        ...{ signal: ctx.state.signal, isDraft },
      });
      sendRedirect(ctx, asset, until);
    },
  };
}
