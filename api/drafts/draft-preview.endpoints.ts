import { z } from 'zod';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import { signContentUrl } from '../../shared/media/content-urls.ts';
import type { Database } from '../../shared/models/database.ts';
import { findLessonVersion } from '../../shared/models/lesson-list.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { schemes } from '../../shared/theme/tokens.ts';
import { findOwnTypes } from '../../shared/widgets/version-widgets.ts';
import { sessionAccess } from '../accounts/access.ts';
import { lookOf } from '../embed/theme-boot.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import { publicPath } from '../http/public-url.ts';
import { json, time } from '../http/responses.ts';
import type { PlayerReleases } from '../player/player-releases.ts';
import { noDraft, ofDraft, requireDraft } from './draft-requests.ts';

const previewFrameBody = z
  .strictObject({
    frameUrl: z.string().meta({ description: 'Path of the page that shows blocks, for a sandboxed frame.' }),
    contentUrl: z.string().meta({ description: 'Path of the folder of media and widgets.' }),
    expiresAt: time.meta({ description: 'When `contentUrl` expires.' }),
    theme: z.string().nullable().meta({ description: 'The stylesheet of the theme.' }),
    scheme: z.enum(schemes).nullable().meta({ description: 'The color scheme of the theme.' }),
    ownTypes: z
      .array(z.string())
      .meta({ description: 'Types of core widgets for which the lesson has its own widgets.' }),
  })
  .meta({ id: 'PreviewFrame' });

interface Dependencies {
  db: Database;
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'asset'>;
  player: Pick<PlayerReleases, 'name'>;
}

/** GET /api/lessons/{lessonId}/draft/preview-frame */
export const previewFrame = defineEndpoint(
  {
    ...ofDraft,
    method: 'get',
    path: '/api/lessons/:lessonId/draft/preview-frame',
    access: sessionAccess,
    operationId: 'getPreviewFrame',
    summary: "Prepare the editor's preview",
    description:
      'Returns the page in which the console previews a draft, and a signed folder with the files of the draft.',
    responses: {
      200: json(
        'What the preview loads.',
        previewFrameBody,
        {
          one: {
            value: {
              frameUrl: '/player/0.1.0-5f3a9c21/edit-frame.html',
              contentUrl: '/content/v1/4b7d…/9c1e…/1795258800/Zk3…/',
              expiresAt: '2026-11-21T11:00:00.000Z',
              ...{ theme: null, scheme: null, ownTypes: [] },
            },
          },
        },
        noStore,
      ),
      404: noDraft,
    },
  },
  (deps: Dependencies) =>
    async ({ caller, params }) => {
      const { db, config, secrets, player } = deps;
      // An operator, who has no organization, lacks the permission.
      const organizationId = caller.user.organizationId ?? '';
      const { lessonId, versionId } = await requireDraft(db, {
        ...{ params, caller: { organization: { _id: organizationId } } },
      });
      const version = await findLessonVersion(db, organizationId, lessonId, versionId);
      if (version === null) throw new LecternError('NOT_FOUND', 'Draft not found');
      const base = publicPath(config);
      const [{ theme, scheme }, ownTypes] = await Promise.all([
        lookOf(deps, { organizationId, lessonId }),
        findOwnTypes(db, version, coreWidgetTypes),
      ]);
      const content = signContentUrl(secrets.asset, 'draft', { lessonId, versionId }, { base });
      const body = {
        frameUrl: `${base}/player/${player.name}/edit-frame.html`,
        contentUrl: content.url,
        expiresAt: content.expiresAt.toISOString(),
        theme: theme?.css ?? null,
        scheme: scheme ?? null,
        ownTypes,
      };
      return { status: 200, body };
    },
);
