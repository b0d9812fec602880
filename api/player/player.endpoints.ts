import type Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import { parseProgressWrite } from '../../shared/progress/write.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import { printJson, RawJson } from '../../shared/platform/raw-json.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { anyOrigin } from '../http/middleware/public-cors.ts';
import { renderErrors, shapeAWith } from '../http/middleware/errors.ts';
import { jsonTextOf, readJsonBytes } from '../http/middleware/json-body.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import {
  assertRecords,
  authorizePlayer,
  findTokenVersion,
  findVersionInPlay,
  playerQuerySchema,
  readPlayerRequest,
} from './authorize.ts';
import { contentAddress } from './content-address.ts';
import { playerDataOptions, sendPlayerData } from './player-data.ts';
import { enterSession, readSession, writeSession } from './session.ts';
import type { SessionRoom } from './session.ts';
import { sendJson } from '../http/send-json.ts';
import { createRouter } from '../http/router.ts';

const maxSessionBytes = 1024 ** 2;

export const playerDataQuery = playerQuerySchema.extend(playerDataOptions);

export const contentQuery = playerQuerySchema.extend({
  versionId: z
    .guid('Invalid version ID')
    .toLowerCase()
    .optional()
    .meta({ description: 'The version in play, if another one may have been published since.' }),
});

/**
 * What a player's token authorizes: the lesson (the contract's 4.4), the learner's session in it, and the address of
 * its media and widgets.
 */
export function playerRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/api/public/lessons/:lessonId');
  const unexpected = shapeAWith('An unexpected error occurred while fetching lesson data');

  router.use('/player-data', anyOrigin('GET, OPTIONS'), renderErrors(unexpected), limitByAddress(deps));
  router.get('/player-data', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const { query, token } = await readPlayerRequest(deps, ctx.params.lessonId, ctx.query, playerDataQuery);
    const version = await findTokenVersion(deps.db, token);
    const prepared = await deps.lessons.get(version._id);
    if (prepared === undefined) throw new Error(`version ${version._id} has no content`);
    if (query.validate_playability && prepared.facts.playabilityErrors.length > 0) {
      throw new LecternError('INVALID_CONTENT', 'Lesson has validation errors that prevent playback');
    }
    const userAttributes = token.kind === 'embed' ? token.userAttributes : '{}';
    sendPlayerData(ctx, version, prepared, { userAttributes, options: query });
  });
  router.all('/player-data', methodNotAllowed('GET, HEAD, OPTIONS'));

  router.use('/session', anyOrigin('GET, POST, OPTIONS'), limitByAddress(deps));
  router.get('/session', async (ctx) => {
    const { token, version } = await authorizePlayer(deps, ctx.params.lessonId, ctx.query);
    const room = await enterSession(deps, token, ctx.res);
    sendJson(ctx, await readSession(deps, token, version._id, room));
  });
  router.post('/session', async (ctx) => {
    const { token } = await readPlayerRequest(deps, ctx.params.lessonId, ctx.query, playerQuerySchema);
    assertRecords(token);
    const room = await enterSession(deps, token, ctx.res);
    const write = await readWrite(ctx, room);
    const { saved, session } = await writeSession(deps, token, write, room);
    if (saved) {
      sendJson(ctx, session);
      return;
    }
    ctx.status = 409;
    const error = 'The progress was changed since it was read';
    sendJson(ctx, { error, current: new RawJson(printJson(session)) });
  });
  router.all('/session', methodNotAllowed('GET, HEAD, POST, OPTIONS'));

  router.use('/content', anyOrigin('GET, OPTIONS'), limitByAddress(deps));
  router.get('/content', async (ctx) => {
    const { query, token } = await readPlayerRequest(deps, ctx.params.lessonId, ctx.query, contentQuery);
    const { _id: versionId, lessonId } = await findVersionInPlay(deps.db, token, query.versionId);
    const of = { lessonId, versionId };
    const { url, expiresAt } = contentAddress(deps, token, of);
    sendJson(ctx, { base: url, expiresAt, versionId });
  });
  router.all('/content', methodNotAllowed('GET, HEAD, OPTIONS'));
  return router;
}

async function readWrite(ctx: Context, { learner, texts }: SessionRoom): Promise<ProgressWrite> {
  const body = await texts.receive({
    learner,
    announcedBytes: Math.min(Number(ctx.get('Content-Length')), maxSessionBytes),
    read: (onArrival) => readJsonBytes(ctx, { maxBytes: maxSessionBytes, onArrival }),
  });
  return texts.run(body.length, () => parseProgressWrite(jsonTextOf(body)));
}
