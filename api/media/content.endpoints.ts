import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { findSignedDraft, findSignedPreview, findSignedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { isContentUrl } from '../../shared/media/content-urls.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import type { Access } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { forPlayers, noStore as noStoreHeader } from '../http/headers.ts';
import { noStore } from '../http/middleware/response-headers.ts';
import { publicCors } from '../http/middleware/cors.ts';
import { limitByIp, tooManyRequests } from '../http/middleware/rate-limit.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import { failure } from '../http/responses.ts';
import { nothingToPlayText } from '../player/authorize.ts';
import { widgetTexts } from './player-assets.ts';
import {
  mediaParams,
  mediumNotFound,
  redirect,
  versionFiles,
  widgetNotFound,
  widgetParams,
} from './version-files.ts';
import type { VersionFilesDependencies } from './version-files.ts';

type Dependencies = VersionFilesDependencies & { db: Database };

const methods = 'GET, HEAD, OPTIONS';

export const invalidSignatureText = 'Invalid or expired signature';
/** The failure of an invalid or expired URL. */
export const invalidSignature = failure(
  'The URL has expired, or this service has not signed it.',
  invalidSignatureText,
);

/** Access by a signed URL of a version, for the page that plays it. */
export const signedAccess: Access<{ rateLimits: RateLimits }, null> = {
  security: [],
  headers: { ...forPlayers(methods), ...noStoreHeader },
  preflight: true,
  failures: { 403: invalidSignature, 429: tooManyRequests },
  middleware: (deps) => [publicCors(methods), noStore, limitByIp(deps)],
  identify: () => null,
};

const as = (text: z.ZodType<string>, description: string) => text.meta({ description });
export const signedParams = z.strictObject({
  lessonId: as(z.guid(), 'The lesson.'),
  versionId: as(z.guid(), 'The version whose files it opens.'),
  expires: as(z.string().regex(/^[1-9]\d{0,10}$/), 'Expiry of the URL: Unix time in seconds.'),
  signature: as(z.string().regex(/^[\w-]+$/), 'The signature of the whole URL.'),
});

const common = { method: 'get', access: signedAccess, errors: apiErrors(), tag: 'Player' } as const;
/** The path of signed URLs of versions. */
export const signedPath = '/content/v1/:lessonId/:versionId/:expires/:signature';

/** GET /content/v1/…/media/{mediaId} */
export const getContentMediaFile = defineEndpoint(
  {
    ...common,
    path: `${signedPath}/media/:mediaId`,
    laterParams: signedParams.extend(mediaParams.shape),
    operationId: 'getContentMedium',
    summary: 'Find a media file by signed URL',
    description:
      'As with a token, for clients with the URL of a version from `GET /api/public/lessons/{lessonId}/content`. ' +
      'It names no learner, and opens nothing but media and widgets of that version.',
    responses: {
      302: redirect,
      400: failure('The media id is not a UUID.', 'Invalid media ID'),
      404: mediumNotFound,
    },
  },
  (deps: Dependencies) => {
    const files = versionFiles(deps);
    return async ({ ctx }) => {
      const { version, isDraft } = await findSigned(deps, ctx.params, 'files');
      await files.sendMedium(ctx, version, ctx.params.mediaId, { until: expiryOf(ctx.params), isDraft });
      return written;
    };
  },
);

/** GET /content/v1/…/widgets/{file} */
export const getContentWidgetFile = defineEndpoint(
  {
    ...common,
    path: `${signedPath}/widgets/:file`,
    laterParams: signedParams.extend(widgetParams.shape),
    operationId: 'getContentWidgetFile',
    summary: 'Find a widget file by signed URL',
    description: 'As with a token, with the URL that also opens the media of the version.',
    responses: {
      302: redirect,
      400: failure('The file is missing.', widgetTexts.missing),
      404: widgetNotFound,
    },
  },
  (deps: Dependencies) => {
    const files = versionFiles(deps);
    return async ({ ctx }) => {
      const { version, isDraft } = await findSigned(deps, ctx.params, 'files');
      await files.sendWidget(ctx, version, ctx.params.file, { until: expiryOf(ctx.params), isDraft });
      return written;
    };
  },
);

/**
 * Returns the expiry of a valid URL. Redirects from it expire with it, so that their lifetimes do not add up after a
 * revocation.
 */
function expiryOf({ expires }: Record<string, string | undefined>): Date {
  return new Date(Number(expires) * 1000);
}

/**
 * Returns the version of a signed URL, and whether the URL is of a preview, or of a draft that began with the version.
 *
 * @param kind the content that the URL must open.
 * @throws {LecternError} FORBIDDEN for an invalid or expired URL; NOT_FOUND for an unavailable version.
 */
export async function findSigned(
  { db, secrets }: Pick<Dependencies, 'db' | 'secrets'>,
  { lessonId = '', versionId = '', expires = '', signature = '' }: Record<string, string | undefined>,
  kind: 'files' | 'chunks',
): Promise<{ version: LessonVersion; isPreview: boolean; isDraft: boolean }> {
  const given = { lessonId, versionId, expires, signature };
  const isPreview = isContentUrl(secrets.asset, 'preview', given);
  const isDraft = kind === 'files' && isContentUrl(secrets.asset, 'draft', given);
  if (!isPreview && !isDraft && !isContentUrl(secrets.asset, kind, given)) {
    throw new LecternError('FORBIDDEN', invalidSignatureText);
  }
  const find = isPreview ? findSignedPreview : isDraft ? findSignedDraft : findSignedVersion;
  const version = await find(db, lessonId, versionId);
  if (version === null) throw new LecternError('NOT_FOUND', nothingToPlayText);
  return { version, isPreview, isDraft };
}
