import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { matchesIfNoneMatch } from '../http/etags.ts';
import * as example from '../http/examples.ts';
import { encoded } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { encodingOf, sendTexts } from '../http/send-texts.ts';
import { empty, failure, jsonObject } from '../http/responses.ts';
import { findSigned, signedAccess, signedParams, signedPath } from './content.endpoints.ts';
import { nothingToPlayText } from '../player/authorize.ts';

const notFound = 'Chunk not found';

const chunkBody = z
  .array(
    z.strictObject({
      id: z.string(),
      content: z.looseObject({ content: z.array(jsonObject), root: jsonObject }),
    }),
  )
  .meta({ id: 'LessonChunk' });

const chunkHeaders: Headers = {
  ...encoded,
  ETag: z.string().meta({ examples: ['"u2ZGAN-yfl3P0LLlO2hGPdyzS_B1N0ZVjYYyHe8AEhc"'] }),
  'Cache-Control': z.string().meta({
    description: 'A browser asks again before it shows the chunk; previews are not kept.',
    examples: ['private, no-cache'],
  }),
};

/** GET /content/v1/…/chunks/{chunkId}: steps of a lesson, for the embed page. */
export const getChunk = defineEndpoint(
  {
    method: 'get',
    path: `${signedPath}/chunks/:chunkId`,
    access: signedAccess,
    errors: apiErrors(),
    laterParams: signedParams.extend({
      chunkId: z
        .string()
        .regex(/^[\w-]{43}$/)
        .meta({ description: 'The SHA-256 of the chunk, in base64url.' }),
    }),
    operationId: 'getLessonChunk',
    tag: 'Embedding',
    summary: 'Load steps of a lesson',
    description:
      'Consecutive steps of a version, which the embed page loads before the learner reaches them. The page contains ' +
      'the URL. Your own player uses `player-data`, which has the whole lesson.',
    responses: {
      200: {
        kind: 'written',
        description: 'The steps.',
        headers: chunkHeaders,
        content: {
          'application/json': { schema: chunkBody, examples: { text: { value: [example.chunkStep] } } },
        },
      },
      304: empty('You have it: the ETag is one of `If-None-Match`.', chunkHeaders),
      404: failure(
        'There is nothing to play, or the version has no such chunk.',
        nothingToPlayText,
        notFound,
      ),
    },
  },
  (deps: { db: Database; secrets: Pick<Secrets, 'asset'>; lessons: Pick<PreparedLessons, 'chunk'> }) =>
    async ({ ctx }) => {
      const { chunkId = '' } = ctx.params;
      const { version, isPreview } = await findSigned(deps, ctx.params, 'chunks');
      const chunk = await deps.lessons.chunk(version._id, chunkId);
      if (chunk === undefined) throw new LecternError('NOT_FOUND', notFound);
      // A text must not outlive its URL in a cache, so browsers ask again, and get 304.
      if (!isPreview) ctx.set('Cache-Control', 'private, no-cache');
      const etag = `"${chunkId}${encodingOf(ctx, [chunk]) === 'gzip' ? '-gzip' : ''}"`;
      ctx.set('ETag', etag);
      ctx.type = 'application/json';
      if (matchesIfNoneMatch(ctx, etag)) {
        ctx.vary('Accept-Encoding');
        ctx.status = 304;
      } else await sendTexts(ctx, [chunk]);
      return written;
    },
);
