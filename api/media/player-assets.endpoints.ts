import type { Database } from '../../shared/models/database.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { failure } from '../http/responses.ts';
import { lessonParams, playerToken } from '../player/access.ts';
import { findTokenVersion, playerQuerySchema } from '../player/authorize.ts';
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

const common = {
  method: 'get',
  access: playerToken('GET, HEAD, OPTIONS', { uncached: true }),
  errors: apiErrors(),
  params: lessonParams,
  query: playerQuerySchema,
  tag: 'Player',
} as const;

/** GET …/media/{mediaId}: redirects to the signed URL of a media file. */
export const getMediaFile = defineEndpoint(
  {
    ...common,
    path: '/api/public/lessons/:lessonId/media/:mediaId',
    laterParams: mediaParams,
    operationId: 'getMedium',
    summary: 'Find a media file',
    description:
      "Redirects to a media file (`media:<uuid>` in the lesson) of the token's version. External media come " +
      'through Lectern, so learners contact no third party. Works as the `src` of an image, audio or video.',
    sample: [
      'curl -fL -o picture.png \\',
      '  "$LECTERN/api/public/lessons/$LESSON_ID/media/$MEDIA_ID?token=$TOKEN"',
    ],
    responses: {
      302: redirect,
      400: failure('An id is not a UUID, or the token is missing.'),
      404: mediumNotFound,
    },
  },
  (deps: Dependencies) => {
    const files = versionFiles(deps);
    return async ({ ctx, caller }) => {
      await files.sendMedium(ctx, await findTokenVersion(deps.db, caller), ctx.params.mediaId);
      return written;
    };
  },
);

/** GET …/widgets/{file}: redirects to the signed URL of a widget's module or stylesheet. */
export const getWidgetFile = defineEndpoint(
  {
    ...common,
    path: '/api/public/lessons/:lessonId/widgets/:file',
    laterParams: widgetParams,
    operationId: 'getWidgetFile',
    summary: 'Find a widget file',
    description:
      'Redirects to the ES module (`<type>.js`) or the stylesheet (`<type>.css`) of a block type, in the release ' +
      'that the version pins.',
    sample: [
      'curl -fL -o MultipleChoice.js \\',
      '  "$LECTERN/api/public/lessons/$LESSON_ID/widgets/MultipleChoice.js?token=$TOKEN"',
    ],
    responses: {
      302: redirect,
      400: failure('The lesson id is not a UUID, or the token or the file is missing.', widgetTexts.missing),
      404: widgetNotFound,
    },
  },
  (deps: Dependencies) => {
    const files = versionFiles(deps);
    return async ({ ctx, caller }) => {
      await files.sendWidget(ctx, await findTokenVersion(deps.db, caller), ctx.params.file);
      return written;
    };
  },
);
