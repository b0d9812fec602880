import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import type { LessonDraft } from '../../shared/models/lesson-draft.ts';
import { findImport, queueDraftImport } from '../../shared/models/lesson-import.ts';
import type { LessonImport } from '../../shared/models/lesson-import.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { planFailure, requireImports } from '../imports/create-import.ts';
import * as importExample from '../imports/examples.ts';
import { header } from '../imports/import-endpoint.ts';
import { importBody, presentImport } from '../imports/present-import.ts';
import { noDraft, ofDraft, requireDraft } from './draft-requests.ts';

const publishingText = 'The draft is being published';

function queueDraft(
  db: Database,
  { _id: id, organizationId, saves }: LessonDraft,
  fields: Pick<LessonImport, '_id' | 'options'>,
): Promise<LessonImport | null> {
  return queueDraftImport(db, { ...fields, organizationId, fileName: 'draft', draft: { id, saves } });
}

const publication = z
  .strictObject(
    {
      publish: z
        .boolean('publish must be true or false')
        .default(true)
        .meta({ description: 'Whether to publish the version, so that learners get it.' }),
      force: z
        .boolean('force must be true or false')
        .default(false)
        .meta({ description: 'Whether to publish a lesson that cannot be played yet.' }),
    },
    { error: objectFault },
  )
  .refine(({ publish, force }) => publish || !force, 'force requires publish');

/** POST /api/lessons/{lessonId}/draft/publish */
export const publishDraft = defineEndpoint(
  {
    ...ofDraft,
    method: 'post',
    path: '/api/lessons/:lessonId/draft/publish',
    audit: 'draft.publish',
    idempotent: true,
    operationId: 'publishDraft',
    summary: 'Publish a draft',
    description:
      'Makes the next version of the lesson from its draft: a worker checks and converts it as an import, which ' +
      'reports faults, warnings and the version. Then the draft ends, unless an author has saved since.',
    body: strictBody(publication, { publish: { value: {} }, version: { value: { publish: false } } }),
    responses: {
      202: json(
        'The import that makes the version.',
        importBody,
        {
          one: {
            value: {
              ...importExample.uploading,
              status: 'queued',
              fileName: 'draft',
              upload: { size: 0, offset: 0 },
            },
          },
        },
        { ...noStore, Location: header('The URL of the import.') },
      ),
      403: planFailure,
      404: noDraft,
      409: failure('The draft is being published.', publishingText),
    },
  },
  ({ db, config }: { db: Database; config: Pick<Config, 'publicUrl'> }) =>
    async (request) => {
      const { ctx, caller, newId } = request;
      requireImports(caller.organization);
      const { publish, force } = await request.readBody();
      const { _id: organizationId } = caller.organization;
      const found = await findImport(db, newId, organizationId);
      const created =
        found ??
        (await queueDraft(db, await requireDraft(db, request), {
          _id: newId,
          options: {
            ...{ asNew: false, asMedia: false, publish, force },
            ...{ mediaBaseUrl: null, questionsPerStep: null, module: null },
          },
        }));
      if (created === null) throw new LecternError('CONFLICT', publishingText);
      ctx.set('Location', `${publicUrlOf(ctx, config)}/api/lessons/imports/${created._id}`);
      return { status: 202, body: presentImport(created, { offset: 0 }) };
    },
);
