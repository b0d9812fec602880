import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { enqueuePrebuild } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import type { Downloader } from '../../shared/media/downloads/downloader.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { taskWait } from '../../shared/platform/tasks.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { withTimeLimit } from '../../shared/platform/time-limits.ts';
import { checkVersion, findMissing } from '../../shared/publishing/check-version.ts';
import { deleteLesson, publishVersion, signPreview, unpublish } from '../../shared/publishing/publishing.ts';
import type { Store } from '../../shared/storage/store.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint, unknownParameter } from '../http/endpoint.ts';
import * as example from '../http/examples.ts';
import { noStore } from '../http/headers.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { empty, failure, json } from '../http/responses.ts';
import { presentCheck, presentPublished, previewLink, publishedVersion, versionCheck } from './bodies.ts';
import { common, idOf, notFound, ofVersion, requireVersion } from './version-requests.ts';

/** How long a check waits for the files of widgets by URL. */
const checkTimeoutMs = 30_000;

const published = {
  lessonId: example.lessonId,
  versionId: example.versionId,
  versionNumber: 2,
  slug: 'tides',
  publishedAt: '2026-11-21T09:12:04.000Z',
  warnings: ['No widget is registered for the type Dial.'],
};

interface PublishingDependencies {
  db: Database;
  store: Store;
  queue: ExportQueue;
  config: Pick<Config, 'download' | 'export' | 'publicUrl'>;
  secrets: Pick<Secrets, 'signing'>;
  downloader: Downloader;
}

/** POST /api/lessons/{lessonId}/versions/{versionId}/publish */
export const publish = defineEndpoint(
  {
    ...ofVersion,
    method: 'post',
    path: '/api/lessons/:lessonId/versions/:versionId/publish',
    access: apiAccess,
    scope: 'content',
    query: z.strictObject(
      {
        force: z
          .enum(['true', 'false'], 'force must be true or false')
          .default('false')
          .meta({ description: 'Whether to publish a lesson that cannot be played yet.' }),
      },
      { error: unknownParameter },
    ),
    audit: 'version.publish',
    operationId: 'publishVersion',
    summary: 'Publish a version',
    description:
      'Publishes a version, so that it can be played and exported, and pins the current releases of its widgets. A ' +
      'published version stays as it is.',
    responses: {
      200: json('The version.', publishedVersion, { one: { value: { ...published, status: 'published' } } }),
      404: notFound,
      422: failure('An id or `force` is invalid, or the lesson cannot be played yet.'),
    },
  },
  ({ db, store, queue, config }: PublishingDependencies) =>
    async (request) => {
      const version = await requireVersion(db, request);
      const result = await publishVersion(db, store, version._id, {
        force: request.query.force === 'true',
        wait: taskWait,
      });
      if (config.export.prebuild) {
        // Without Redis, the first request for the archive builds it.
        await enqueuePrebuild(queue, exportJobOf(result)).catch((error: unknown) =>
          request.ctx.state.log.warn({ err: error }, 'the archive is not prebuilt'),
        );
      }
      const { media, widgets } = await findMissing(db, result, taskWait);
      return { status: 200, body: presentPublished(result, [...media, ...widgets]) };
    },
);

/** POST /api/lessons/{lessonId}/versions/{versionId}/unpublish */
export const unpublishOne = defineEndpoint(
  {
    ...ofVersion,
    method: 'post',
    path: '/api/lessons/:lessonId/versions/:versionId/unpublish',
    access: apiAccess,
    scope: 'content',
    audit: 'version.unpublish',
    operationId: 'unpublishVersion',
    summary: 'Unpublish a version',
    description:
      'Unpublishes a version: it can no longer be loaded or exported. Learners who play it may finish. ' +
      'A version that is not published stays as it is.',
    responses: {
      200: json('The version.', publishedVersion, {
        one: { value: { ...published, status: 'unpublished', warnings: [] } },
      }),
      404: notFound,
    },
  },
  ({ db }: { db: Database }) =>
    async (request) => {
      const { lessonId, _id } = await requireVersion(db, request);
      await unpublish(db, lessonId, _id);
      return { status: 200, body: presentPublished(await requireVersion(db, request), []) };
    },
);

/** GET /api/lessons/{lessonId}/versions/{versionId}/check */
export const check = defineEndpoint(
  {
    ...ofVersion,
    method: 'get',
    path: '/api/lessons/:lessonId/versions/:versionId/check',
    access: apiAccess,
    scope: 'content',
    operationId: 'checkVersion',
    summary: 'Check a version',
    description:
      'Reports why a version cannot be played, what is missing, and probable mistakes of its author. Downloads the ' +
      'files of widgets by URL, for at most 30 seconds.',
    responses: {
      200: json('The result of the check.', versionCheck, {
        oneWarning: {
          value: {
            lessonId: example.lessonId,
            versionId: example.versionId,
            versionNumber: 2,
            playability: { valid: true, errors: [] },
            warnings: [
              {
                message: 'No widget is registered for the type Dial.',
                place: {
                  section: { id: 'c1f0b8c2-7f57-4a52-9d1a-0f2f6f0f4f11', title: 'Tides' },
                  step: { id: example.stepId, title: 'Why the sea rises' },
                  block: { id: 'Dial-1', type: 'Dial', text: '' },
                },
              },
            ],
            externalMedia: [],
          },
        },
      }),
      404: notFound,
    },
  },
  (deps: PublishingDependencies) => async (request) => {
    const version = await requireVersion(deps.db, request);
    const limit = { timeoutMs: checkTimeoutMs, signal: request.ctx.state.signal };
    const result = await withTimeLimit(limit, (signal) =>
      checkVersion({ ...deps, signal }, version, taskWait),
    );
    return { status: 200, body: presentCheck(version, result) };
  },
);

/** POST /api/lessons/{lessonId}/versions/{versionId}/preview-links */
export const createPreviewLink = defineEndpoint(
  {
    ...ofVersion,
    method: 'post',
    path: '/api/lessons/:lessonId/versions/:versionId/preview-links',
    access: apiAccess,
    scope: 'read',
    audit: 'preview.create',
    idempotent: true,
    operationId: 'createPreviewLink',
    summary: 'Create a preview link',
    description: 'Returns a link that plays a draft or a published version for an hour. It records nothing.',
    responses: {
      201: json(
        'The link.',
        previewLink,
        {
          link: {
            value: {
              lessonId: example.lessonId,
              versionId: example.versionId,
              versionNumber: 2,
              url: `https://lectern.example.com/embed/${example.lessonId}?token=${example.token}`,
              expiresAt: '2026-11-21T10:12:04.000Z',
            },
          },
        },
        noStore,
      ),
      404: notFound,
      422: failure('An id is invalid, or the version was unpublished or cannot be played yet.'),
    },
  },
  ({ db, store, config, secrets }: PublishingDependencies) =>
    async (request) => {
      const version = await requireVersion(db, request);
      const { token, expiresAt } = await signPreview(
        { db, store, signing: secrets.signing },
        version,
        taskWait,
      );
      const { lessonId, _id: versionId, versionNumber } = version;
      const url = `${publicUrlOf(request.ctx, config)}/embed/${lessonId}?token=${token}`;
      const body = { lessonId, versionId, versionNumber, url, expiresAt: expiresAt.toISOString() };
      return { status: 201, body };
    },
);

/** DELETE /api/lessons/{lessonId} */
export const removeLesson = defineEndpoint(
  {
    ...common,
    method: 'delete',
    path: '/api/lessons/:lessonId',
    access: apiAccess,
    scope: 'content',
    params: z.object({ lessonId: idOf('lesson') }),
    audit: 'lesson.delete',
    operationId: 'deleteLesson',
    summary: 'Delete a lesson',
    description:
      'Unpublishes all versions and removes the lesson from lists. Records of learners stay readable. Importing the ' +
      'lesson again restores it with a new version.',
    responses: {
      204: empty('It is deleted.'),
      404: failure(
        'The lesson does not exist, was deleted, or belongs to another organization.',
        'Lesson not found',
      ),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params: { lessonId } }) => {
      const isDeleted =
        (await lessonExists(db, caller.organization._id, lessonId)) && (await deleteLesson(db, lessonId));
      if (!isDeleted) throw new LecternError('NOT_FOUND', 'Lesson not found');
      return { status: 204 };
    },
);

/** In the order in which requests match them. */
export const publishingEndpoints = [publish, unpublishOne, check, createPreviewLink, removeLesson] as const;
