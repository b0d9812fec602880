import { z } from 'zod';
import { addOrphanCandidates } from '../../shared/assets/stored-assets.ts';
import { findFileUses, isUsedByDraft, replaceInDrafts } from '../../shared/drafts/media-uses.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  deleteLibraryFile,
  describeFile,
  fileKinds,
  findLibraryFile,
  pageOfFiles,
} from '../../shared/models/library-file.ts';
import type { LibraryFile } from '../../shared/models/library-file.ts';
import { isUsedByVersion } from '../../shared/models/medium.ts';
import { identifier } from '../../shared/packages/lesson-shapes.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { isHttpUrl } from '../../shared/platform/parse-url.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { apiAccess } from '../accounts/access.ts';
import { authorOf } from '../drafts/draft-requests.ts';
import { defineEndpoint, unknownParameter } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { noStore } from '../http/headers.ts';
import { cursorDescription, pageCursor, pageLimit, toPageCursor } from '../http/pagination.ts';
import { count, empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import {
  fileBody,
  fileExample,
  fileList,
  presentFile,
  presentUse,
  usedExample,
  usedFileBody,
} from './bodies.ts';
import type { PresentDependencies } from './bodies.ts';

const texts = {
  notFound: 'File not found',
  usedByVersion: 'A version of a lesson uses the file: it stays',
  usedByDraft: 'Drafts use the file. Replace it there, or delete it with force=true',
};

const common = {
  access: apiAccess,
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Content',
} as const;
const fileId = (what: string) =>
  z
    .guid('Invalid file ID format')
    .toLowerCase()
    .meta({ description: `Id of the ${what}.` });
const ofFile = {
  ...common,
  path: '/api/media/:fileId',
  params: z.object({ fileId: fileId('file') }),
} as const;
const notFound = failure('There is no such file, or it belongs to another organization.', texts.notFound);

interface MediaLibraryDependencies extends PresentDependencies {
  db: Database;
}

/** @throws {LecternError} NOT_FOUND */
async function requireFile(db: Database, organizationId: string, id: string): Promise<LibraryFile> {
  const file = await findLibraryFile(db, organizationId, id);
  if (file === null) throw new LecternError('NOT_FOUND', texts.notFound);
  return file;
}

/** GET /api/media */
const listFiles = defineEndpoint(
  {
    ...common,
    path: '/api/media',
    method: 'get',
    scope: 'read',
    operationId: 'listMediaFiles',
    summary: 'List the files of the media library',
    description:
      'The files of all versions and uploads, each once, newest first. A page may have fewer than `limit`.',
    query: z.strictObject(
      {
        kind: z
          .enum(fileKinds, `kind must be one of ${fileKinds.join(', ')}`)
          .optional()
          .meta({ description: 'Files of this kind only.' }),
        text: z
          .string()
          .max(200, 'text must be at most 200 characters')
          .optional()
          .meta({ description: 'Words in name, alt text, credit or license.' }),
        limit: pageLimit('files'),
        cursor: pageCursor.optional().meta({ description: cursorDescription }),
      },
      { error: unknownParameter },
    ),
    responses: {
      200: json(
        'The files.',
        fileList,
        { one: { value: { files: [fileExample], nextCursor: null } } },
        noStore,
      ),
    },
  },
  (deps: MediaLibraryDependencies) =>
    async ({ caller, query: { kind, text, limit, cursor } }) => {
      const { files, next } = await pageOfFiles(deps.db, caller.organization._id, {
        ...{ kind, limit, after: cursor ?? null },
        ...(text !== undefined && { text }),
      });
      const nextCursor = next && toPageCursor(next);
      return { status: 200, body: { files: files.map((file) => presentFile(deps, file)), nextCursor } };
    },
);

/** GET /api/media/{fileId} */
const getFile = defineEndpoint(
  {
    ...ofFile,
    method: 'get',
    scope: 'read',
    operationId: 'getMediaFile',
    summary: 'Read a file of the media library, and where it is used',
    responses: {
      200: json('The file.', usedFileBody, { one: { value: usedExample } }, noStore),
      404: notFound,
    },
  },
  (deps: MediaLibraryDependencies) =>
    async ({ caller, params }) => {
      const file = await requireFile(deps.db, caller.organization._id, params.fileId);
      const { lessons, isComplete } = await findFileUses(deps.db, file);
      const uses = { lessons: lessons.map(presentUse), isComplete };
      return { status: 200, body: { ...presentFile(deps, file), uses } };
    },
);

const line = (name: string, max: number) =>
  z.string(`${name} must be a text`).max(max, `${name} must be at most ${max} characters`).optional();
const nameFault = 'name must be a name of 1 to 200 characters, without a path';
const urlFault = 'creditUrl must be an http or https URL, or empty';
const description = z.strictObject(
  {
    name: z
      .string(nameFault)
      .regex(/^[^\p{C}\u2028\u2029/\\]{1,200}$/u, nameFault)
      .optional(),
    alt: line('alt', 1000),
    credit: line('credit', 500),
    creditUrl: line('creditUrl', 2048).refine((url = '') => url === '' || isHttpUrl(url), urlFault),
    license: line('license', 200),
  },
  { error: objectFault },
);

/** PATCH /api/media/{fileId} */
const changeFile = defineEndpoint(
  {
    ...ofFile,
    method: 'patch',
    scope: 'content',
    audit: 'media.change',
    operationId: 'changeMediaFile',
    summary: 'Describe a file of the media library',
    description:
      'Changes name, alt text, credit and license. Versions keep the credit that they were made with.',
    body: strictBody(description, { alt: { value: { alt: 'A harbour at low tide', license: 'CC BY 4.0' } } }),
    responses: { 200: json('The file.', fileBody, { one: { value: fileExample } }, noStore), 404: notFound },
  },
  (deps: MediaLibraryDependencies) =>
    async ({ caller, params, readBody }) => {
      const which = { organizationId: caller.organization._id, id: params.fileId };
      const { name, alt, credit, creditUrl, license } = await readBody();
      const given = Object.entries({ name, alt, credit, creditUrl, license });
      const changes = Object.fromEntries(given.filter(([, value]) => value !== undefined));
      const file = await describeFile(deps.db, which, changes);
      if (file === null) throw new LecternError('NOT_FOUND', texts.notFound);
      return { status: 200, body: presentFile(deps, file) };
    },
);

const replacement = z
  .strictObject(
    {
      by: z
        .guid('by must be the id of a file')
        .toLowerCase()
        .meta({ description: 'The file to use instead.' }),
      lessonId: z.guid('lessonId must be a UUID').toLowerCase().optional(),
      stepId: identifier.optional(),
    },
    { error: objectFault },
  )
  .refine(
    ({ lessonId, stepId }) => stepId === undefined || lessonId !== undefined,
    'stepId requires lessonId',
  );

/** POST /api/media/{fileId}/replace */
const replaceFile = defineEndpoint(
  {
    ...ofFile,
    path: '/api/media/:fileId/replace',
    method: 'post',
    scope: 'content',
    audit: 'media.replace',
    operationId: 'replaceMediaFile',
    summary: 'Replace a file in drafts',
    description:
      'Uses another file in all drafts, in the draft of a lesson, or in one of its steps. Versions never change: begin ' +
      'drafts of the lessons first, and publish them afterward.',
    body: strictBody(replacement, { everywhere: { value: { by: fileExample.id } } }),
    responses: {
      200: json(
        'What was replaced.',
        z.strictObject({
          replaced: count.meta({ description: 'Changed steps and skeletons.' }),
          isComplete: z.boolean().meta({ description: 'False: repeat the request.' }),
        }),
        { one: { value: { replaced: 2, isComplete: true } } },
        noStore,
      ),
      404: notFound,
    },
  },
  ({ db }: MediaLibraryDependencies) =>
    async ({ ctx, caller, params, readBody }) => {
      const { by, lessonId, stepId } = await readBody();
      const { _id: organizationId } = caller.organization;
      const file = await requireFile(db, organizationId, params.fileId);
      const other = await requireFile(db, organizationId, by);
      const result = await replaceInDrafts(db, file, other, { lessonId, stepId, author: authorOf(ctx) });
      return { status: 200, body: result };
    },
);

/** DELETE /api/media/{fileId} */
const deleteFile = defineEndpoint(
  {
    ...ofFile,
    method: 'delete',
    scope: 'content',
    audit: 'media.delete',
    operationId: 'deleteMediaFile',
    summary: 'Delete a file of the media library',
    description: 'Deletes a file that no version uses. With `force`, drafts that use it then lack it.',
    query: z.strictObject(
      {
        force: z
          .enum(['true', 'false'], 'force must be true or false')
          .default('false')
          .meta({ description: 'Deletes it although drafts use it.' }),
      },
      { error: unknownParameter },
    ),
    responses: {
      204: empty('It is deleted.'),
      404: notFound,
      409: failure('A version, or a draft, uses the file.', texts.usedByVersion, texts.usedByDraft),
    },
  },
  ({ db }: MediaLibraryDependencies) =>
    async ({ caller, params, query: { force } }) => {
      const file = await requireFile(db, caller.organization._id, params.fileId);
      const { organizationId, asset } = file;
      if (await isUsedByVersion(db, organizationId, asset.sha256))
        throw new LecternError('CONFLICT', texts.usedByVersion);
      if (force === 'false' && (await isUsedByDraft(db, file)))
        throw new LecternError('CONFLICT', texts.usedByDraft);
      // Before the reference is removed, so that a crash leaves no unreferenced file behind.
      await addOrphanCandidates(db, [asset.sha256]);
      await deleteLibraryFile(db, file._id);
      return { status: 204 };
    },
);

export const mediaLibraryEndpoints = [replaceFile, getFile, changeFile, deleteFile, listFiles];
