import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { LecternError } from '../../shared/platform/errors.ts';
import type { ErrorCode } from '../../shared/platform/errors.ts';
import { findOrganization } from '../../shared/models/organization.ts';
import { readEndedLaunch, TokenError } from '../../shared/tokens/player-tokens.ts';
import type { LaunchToken, PlayerToken, TokenFault } from '../../shared/tokens/player-tokens.ts';
import { widgetTypes } from '../../shared/progress/outline.ts';
import { findStyledTypes } from '../../shared/widgets/version-widgets.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { launchBoot, learnerKey, lessonBoot, noticeBoot, untrackedBecause, wayBack } from './boot-data.ts';
import { noticeWords } from './notice-words.ts';
import { failurePage, lessonPage, waitingPage } from './pages.ts';
import type { PageAddresses } from './pages.ts';
import { pageLanguage } from './page-language.ts';
import { knownLanguage } from './page-words.ts';
import type { FailureCode } from './page-words.ts';
import { setPageHeaders } from './policies.ts';
import { answerErrors } from '../http/middleware/errors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import {
  findTokenVersion,
  playerLessonId,
  playerQuerySchema,
  readPlayerRequest,
} from '../player/authorize.ts';
import { contentAddress } from '../player/content-address.ts';
import { enterSession, readSession } from '../player/session.ts';
import { publicAddress, publicPath } from '../http/public-url.ts';
import { oembedPath } from './oembed.endpoints.ts';
import { createRouter } from '../http/router.ts';

/** The page that integrators have in a frame: it plays a lesson with a learner's token, and says what keeps it from it. */
export function embedRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter();
  const failures = answerErrors((ctx, failure) => sendFailure(deps, ctx, failure));

  // Of a token that is refused nobody knows whose it is; in the page of that is nothing to keep from anybody.
  const headers: Middleware = (ctx, next) => {
    setPageHeaders(ctx, null);
    return next();
  };

  router.get('/embed/:lessonId', headers, failures, limitByAddress(deps), async (ctx) => {
    const lessonId = lessonIdOf(ctx);
    if (lessonId !== null && ctx.query.token === undefined) sendWaiting(deps, ctx, lessonId);
    else await sendLesson(deps, ctx);
  });
  router.all('/embed/:lessonId', methodNotAllowed('GET, HEAD'));
  return router;
}

/** @throws {LecternError} as player data does, INVALID_CONTENT for a lesson that cannot be played included. */
async function sendLesson(deps: AppDependencies, ctx: Context): Promise<void> {
  const { config, db, lessons } = deps;
  const params = ctx.params as Record<string, string | undefined>;
  const { token } = await readPlayerRequest(deps, params.lessonId, ctx.query, playerQuerySchema);
  const allowedOrigins = await allowedOriginsOf(db, token);
  setPageHeaders(ctx, allowedOrigins);
  const version = await findTokenVersion(db, token);
  const { _id: versionId, lessonId } = version;
  const room = await enterSession(deps, token, ctx.res);
  const [prepared, session] = await Promise.all([
    lessons.get(versionId),
    readSession({ db, lessons }, token, versionId, room),
  ]);
  if (prepared === undefined) throw new Error(`version ${versionId} has no content`);
  const { title, language, outline, playabilityErrors } = prepared.facts;
  if (playabilityErrors.length > 0) {
    throw new LecternError('INVALID_CONTENT', 'Lesson has validation errors that prevent playback');
  }
  const styledWidgets = await findStyledTypes(db, version, widgetTypes(outline));
  const spoken = language ?? 'en';
  const shown = askedLanguage(token) ?? spoken;
  const content = contentAddress(deps, token, { lessonId, versionId });
  const api = `${publicPath(config)}/api/public/lessons/${lessonId}`;
  const addresses = addressesOf(deps, ctx, lessonId);
  const boot = lessonBoot(
    {
      page: 'lesson',
      lessonId,
      versionId,
      title,
      language: spoken,
      now: new Date(),
      token: { expiresAt: new Date(token.expiresAt * 1000) },
      learner: learnerKey(token),
      content: { base: content.url, expiresAt: content.expiresAt },
      styledWidgets,
      sessionUrl: `${api}/session`,
      contentUrl: `${api}/content`,
      frameUrl: `${addresses.player}frame.html`,
      allowedOrigins,
      words: noticeWords(shown),
      untracked: untrackedBecause(token),
      launch: launchBoot(token),
    },
    session,
    prepared,
    version,
  );
  send(ctx, lessonPage({ language: shown, title, titleLanguage: spoken, addresses, boot }));
}

function sendWaiting(deps: AppDependencies, ctx: Context, lessonId: string): void {
  const addresses = addressesOf(deps, ctx, lessonId);
  const boot = noticeBoot({ page: 'waiting', lessonId, allowedOrigins: null });
  send(ctx, waitingPage({ language: pageLanguage(ctx), addresses, boot }));
}

function sendFailure(deps: AppDependencies, ctx: Context, failure: LecternError): void {
  const code = codeOf(failure);
  const lessonId = lessonIdOf(ctx);
  const launch = launchOf(deps, ctx);
  const boot = noticeBoot({ page: 'failure', lessonId, code, allowedOrigins: null });
  const language = pageLanguage(ctx, launch?.locale);
  const page = { language, addresses: addressesOf(deps, ctx, lessonId), boot };
  ctx.type = 'html';
  ctx.body = failurePage(code, ctx.state.requestId as string, launch && wayBack(launch), page);
}

/** The launch that a page without a lesson came of, so that there is a way back to the course; null without one. */
function launchOf({ secrets }: Pick<AppDependencies, 'secrets'>, { query }: Context): LaunchToken | null {
  return typeof query.token === 'string' ? readEndedLaunch(secrets.signing, query.token) : null;
}

function send(ctx: Context, page: Buffer): void {
  ctx.status = 200;
  ctx.type = 'html';
  ctx.body = page;
}

/** The organization's own, and those of the platform that a launch came from; null for any. */
async function allowedOriginsOf(
  db: AppDependencies['db'],
  token: PlayerToken,
): Promise<readonly string[] | null> {
  const { allowedOrigins = [] } = (await findOrganization(db, token.organizationId)) ?? {};
  if (allowedOrigins.length === 0) return null;
  const { platformOrigins = [] } = token.kind === 'launch' ? token : {};
  return [...new Set([...allowedOrigins, ...platformOrigins])];
}

/** The language that a platform wants its pages in; undefined where there are no words in it. */
function askedLanguage(token: PlayerToken): string | undefined {
  return token.kind === 'launch' ? knownLanguage(token.locale ?? '') : undefined;
}

function addressesOf(
  { config, player }: Pick<AppDependencies, 'config' | 'player'>,
  ctx: Context,
  lessonId: string | null,
): PageAddresses {
  const base = publicPath(config);
  return {
    player: `${base}/player/${player.name}/`,
    oembed: lessonId === null ? null : base + oembedPath(publicAddress(ctx, config), lessonId),
  };
}

function lessonIdOf(ctx: Context): string | null {
  return playerLessonId.safeParse((ctx.params as Record<string, unknown>).lessonId).data ?? null;
}

const tokenCodes: Partial<Record<TokenFault, FailureCode>> = {
  'Token expired': 'token_expired',
  'Token revoked': 'token_revoked',
};

const otherCodes: Partial<Record<ErrorCode, FailureCode>> = {
  BAD_REQUEST: 'bad_address',
  FORBIDDEN: 'wrong_lesson',
  NOT_FOUND: 'not_available',
  INVALID_CONTENT: 'not_playable',
  TOO_MANY_REQUESTS: 'too_many_requests',
};

function codeOf(failure: LecternError): FailureCode {
  if (failure instanceof TokenError) return tokenCodes[failure.reason] ?? 'token_invalid';
  return otherCodes[failure.code] ?? 'server_error';
}
