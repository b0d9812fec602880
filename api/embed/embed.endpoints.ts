import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { readScheme, schemes } from '../../shared/theme/tokens.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';
import { messagesWith, supportedLanguage } from '../../shared/i18n/message.ts';
import type { Catalog } from '../../shared/i18n/message.ts';
import { findPictureSizes } from '../../shared/models/remote-file.ts';
import type { Database } from '../../shared/models/database.ts';
import { findOrganization } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { ErrorCode } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { LessonFacts } from '../../shared/player/prepare-lesson.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import type { GzipText } from '../../shared/platform/gzip-text.ts';
import { readExpiredLaunch, TokenError, verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { LaunchToken, PlayerToken, TokenFault } from '../../shared/tokens/player-tokens.ts';
import { externalVideoOrigins } from '../../shared/lessons/external-video.ts';
import { chunkOfStep } from '../../shared/lessons/lesson-skeleton.ts';
import { customTypes, positionsOf } from '../../shared/progress/outline.ts';
import { findStyledTypes } from '../../shared/widgets/version-widgets.ts';
import { pathParam, pageLanguage } from '../http/context.ts';
import type { RequestContext } from '../http/context.ts';
import { defineEndpoint, written, parseRequest } from '../http/endpoint.ts';
import type { Access } from '../http/endpoint.ts';
import type { ErrorFormat } from '../http/error-format.ts';
import { challenge, encoded, limited, noStore, retryAfter } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { respondToErrors } from '../http/middleware/errors.ts';
import { limitByIp } from '../http/middleware/rate-limit.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import { addToRequestLine } from '../http/middleware/request-context.ts';
import { pageUrlsOf, publicPath, publicUrlOf } from '../http/public-url.ts';
import { sendTexts } from '../http/send-texts.ts';
import type { WrittenResponse } from '../http/responses.ts';
import {
  findTokenVersion,
  playerFacts,
  playerLessonId,
  playerQuerySchema,
  verifyToken,
  learnerName,
} from '../player/authorize.ts';
import { chunksUrl, contentUrl } from '../player/content-url.ts';
import type { TokenUses } from '../player/token-uses.ts';
import type { PlayerReleases } from '../player/player-releases.ts';
import type { RequestLimits } from '../http/request-limits.ts';
import { readSession } from '../player/session.ts';
import {
  failureCodes,
  launchBoot,
  learnerKey,
  lessonBoot,
  noticeBoot,
  untrackedBecause,
  courseUrl,
} from './boot-data.ts';
import type { FailureCode } from './boot-data.ts';
import { oembedPath } from './oembed.endpoints.ts';
import { failurePage, lessonPage, waitingPage } from './pages.ts';
import type { PageUrls } from './pages.ts';
import { setPageHeaders } from './policies.ts';
import { lookOf } from './theme-boot.ts';

interface PageDependencies {
  config: Pick<Config, 'publicUrl'>;
  player: Pick<PlayerReleases, 'name'>;
}

type EmbedDependencies = PageDependencies & {
  requestLimits: RequestLimits;
  secrets: Pick<Secrets, 'signing' | 'asset' | 'keyPepper'>;
  db: Database;
  lessons: PreparedLessons;
  tokenUses: TokenUses;
};

/** A rejected token has no known owner, and so no list of origins; the page then holds nothing confidential. */
const headersForAnyFrame =
  (deps: PageDependencies): Middleware =>
  (ctx, next) => {
    setPageHeaders(deps, ctx, null);
    return next();
  };

const access: Access<PageDependencies & { rateLimits: RateLimits }, null> = {
  security: [{ token: [] }, {}],
  // The responses below document their headers themselves.
  headers: {},
  preflight: false,
  failures: {},
  middleware: (deps) => [headersForAnyFrame(deps), limitByIp(deps)],
  identify: () => null,
};

const pageHeaders: Headers = {
  ...limited,
  ...noStore,
  'Content-Security-Policy': z.string().meta({
    description:
      "What the page may load; `frame-ancestors` has the organization's origins, which may frame it.",
  }),
  'Referrer-Policy': z.literal('no-referrer'),
};
const content = { 'text/html': { schema: { type: 'string' } } } as const;
const pageOf = (description: string, headers: Headers = {}): WrittenResponse => ({
  kind: 'written',
  description,
  headers: { ...pageHeaders, ...headers },
  content,
});

const errors: ErrorFormat<EmbedDependencies> = {
  unexpected: null,
  render: (deps) => respondToErrors((ctx, failure) => sendFailure(deps, ctx, failure)),
  content: () => content,
};

/** GET /embed/{lessonId}: the page that integrators frame. It plays a lesson with a learner's token. */
export const getEmbedPage = defineEndpoint(
  {
    method: 'get',
    path: '/embed/:lessonId',
    access,
    errors,
    laterParams: z.object({ lessonId: playerLessonId }),
    laterQuery: z.object({
      token: z.string().optional().meta({ description: 'The JWT of the learner.' }),
      scheme: z.enum(schemes).optional().meta({
        description: 'The color scheme of the page, instead of the one of its theme or of the device.',
      }),
    }),
    operationId: 'getEmbedPage',
    tag: 'Embedding',
    summary: 'Play a lesson',
    description:
      'A page for a frame: it plays the lesson that the token names and records the progress. If it cannot, it says ' +
      `why in the learner's language, with a code for support (${failureCodes.join(', ')}). ` +
      'Without a token it waits for one from the embedding page. It ignores cookies.',
    responses: {
      200: pageOf('The page.', encoded),
      400: pageOf(
        'A page: `bad_address`. The lesson id is not a UUID, or the token is empty or given twice.',
      ),
      401: pageOf('A page: `token_expired`, `token_invalid` or `token_revoked`.', challenge),
      403: pageOf('A page: `wrong_lesson`. The token is for another lesson.'),
      404: pageOf('A page: `not_available`. There is nothing to play.'),
      410: pageOf(
        'A page: `learner_erased`. The data of the learner were erased after the token was signed.',
      ),
      422: pageOf('A page: `not_playable`. The lesson is not finished.'),
      429: pageOf('A page: `too_many_requests`.', retryAfter),
      500: pageOf('A page: `server_error`.'),
    },
  },
  (deps: EmbedDependencies) =>
    async ({ ctx }) => {
      const lessonId = lessonIdOf(ctx);
      if (lessonId !== null && ctx.query.token === undefined) await sendWaiting(deps, ctx, lessonId);
      else await sendLesson(deps, ctx);
      return written;
    },
);

/** @throws {LecternError} the errors of player data, and INVALID_CONTENT for a lesson that is not playable. */
async function sendLesson(deps: EmbedDependencies, ctx: RequestContext): Promise<void> {
  const { config, db, lessons } = deps;
  const requested = parseRequest(playerLessonId, pathParam(ctx, 'lessonId'), 'BAD_REQUEST');
  const query = parseRequest(playerQuerySchema, ctx.query, 'BAD_REQUEST');
  const token = await verifyToken(deps, requested, query.token);
  addToRequestLine(ctx, playerFacts(deps.secrets, token));
  deps.tokenUses.record(ctx, token, query.token);
  const organization = await findOrganization(db, token.organizationId);
  const allowedOrigins = allowedOriginsOf(organization, token, pageUrlsOf(ctx, config));
  setPageHeaders(deps, ctx, allowedOrigins);
  const version = await findTokenVersion(db, token);
  const { _id: versionId, lessonId } = version;
  await deps.requestLimits.enterLearner(learnerName(token), token.organizationId, ctx);
  const [facts, session, look] = await Promise.all([
    lessons.knownFacts(versionId),
    readSession({ db, lessons }, token, versionId),
    lookOf(deps, version),
  ]);
  const { title, language, outline, playabilityErrors, hasExternalVideos } = facts;
  if (playabilityErrors.length > 0) {
    throw new LecternError('INVALID_CONTENT', 'Lesson has validation errors that prevent playback');
  }
  const { chunk, skeleton, steps } = await pageTexts(lessons, versionId, facts, session);
  const externalVideos = hasExternalVideos && organization?.externalVideos === true;
  if (externalVideos) setPageHeaders(deps, ctx, allowedOrigins, externalVideoOrigins);
  const [styledWidgets, pictureSizes] = await Promise.all([
    findStyledTypes(db, version, customTypes(outline)),
    findPictureSizes(db, facts.externalPictures),
  ]);
  const lessonLanguage = language ?? 'en';
  const textLanguage = platformLanguage(token) ?? lessonLanguage;
  const content = contentUrl(deps, token, { lessonId, versionId });
  const api = `${publicPath(config)}/api/public/lessons/${lessonId}`;
  const urls = pageUrls(deps, ctx, lessonId);
  const boot = lessonBoot(
    {
      page: 'lesson',
      lessonId,
      versionId,
      title,
      language: lessonLanguage,
      now: new Date(),
      token: { expiresAt: new Date(token.expiresAt * 1000) },
      learner: learnerKey(token),
      content: {
        base: content.url,
        expiresAt: content.expiresAt,
        chunksUrl: chunksUrl(deps, token, { lessonId, versionId }),
      },
      chunk,
      styledWidgets,
      sessionUrl: `${api}/session`,
      contentUrl: `${api}/content`,
      allowedOrigins,
      messages: messagesWith(textLanguage, ['notice.']),
      lessonMessages: lessonMessages(lessonLanguage),
      untracked: untrackedBecause(token),
      launch: launchBoot(token),
      externalVideos,
      theme: look.theme,
      pictureSizes,
    },
    session,
    skeleton,
  );
  await send(
    ctx,
    lessonPage({
      ...{ language: textLanguage, title, titleLanguage: lessonLanguage, urls, boot, steps },
      scheme: requestedScheme(ctx) ?? look.scheme,
    }),
  );
}

/** Returns the messages that the player shows, with their language: English for languages that Lectern lacks. */
function lessonMessages(lessonLanguage: string): { language: string; texts: Catalog } {
  const language = supportedLanguage(lessonLanguage) ?? 'en';
  return { language, texts: messagesWith(language, ['lesson.', 'widget.']) };
}

/** Returns the texts of the page, with the index of the chunk where the learner continues. */
async function pageTexts(
  lessons: PreparedLessons,
  versionId: string,
  { outline, chunks }: Pick<LessonFacts, 'outline' | 'chunks'>,
  { currentSectionIndex, currentStepIndex }: { currentSectionIndex: number; currentStepIndex: number },
) {
  const step = positionsOf(outline).findIndex(
    ({ sectionIndex, stepIndex }) => sectionIndex === currentSectionIndex && stepIndex === currentStepIndex,
  );
  const chunk = chunkOfStep(chunks, step) ?? 0;
  const [skeleton, steps] = await Promise.all([
    lessons.skeleton(versionId),
    lessons.chunk(versionId, chunks[chunk]?.id ?? ''),
  ]);
  if (skeleton === undefined || steps === undefined) throw new Error(`version ${versionId} has no content`);
  return { chunk, skeleton, steps };
}

function sendWaiting(deps: EmbedDependencies, ctx: Context, lessonId: string): Promise<void> {
  const urls = pageUrls(deps, ctx, lessonId);
  const boot = noticeBoot({ page: 'waiting', lessonId, allowedOrigins: null });
  return send(ctx, waitingPage({ language: pageLanguage(ctx), urls, boot, scheme: requestedScheme(ctx) }));
}

function sendFailure(deps: EmbedDependencies, ctx: RequestContext, failure: LecternError): void {
  const code = codeOf(failure);
  const lessonId = lessonIdOf(ctx);
  const launch = launchOf(deps, ctx);
  const erasedLearner = code === 'learner_erased' ? keyOfLearner(deps, ctx) : undefined;
  const boot = noticeBoot({ page: 'failure', lessonId, code, allowedOrigins: null, erasedLearner });
  const language = pageLanguage(ctx, launch?.locale);
  const page = { language, urls: pageUrls(deps, ctx, lessonId), boot, scheme: requestedScheme(ctx) };
  ctx.type = 'html';
  const texts = failurePage(code, ctx.state.requestId, launch && courseUrl(launch), page);
  ctx.body = Buffer.concat(texts);
}

/** Returns the color scheme that the host page asks for. */
function requestedScheme({ query }: Context): Scheme | undefined {
  return readScheme(query.scheme);
}

/** Returns the learner key of the request's token, which is valid except for an erasure. */
function keyOfLearner({ secrets }: Pick<EmbedDependencies, 'secrets'>, { query }: Context): string {
  return learnerKey(verifyPlayerToken(secrets.signing, query.token as string));
}

/** Returns the launch of the request's token, even an expired one, for the link back to the course. */
function launchOf({ secrets }: Pick<EmbedDependencies, 'secrets'>, { query }: Context): LaunchToken | null {
  return typeof query.token === 'string' ? readExpiredLaunch(secrets.signing, query.token) : null;
}

async function send(ctx: Context, page: (Buffer | GzipText)[]): Promise<void> {
  ctx.status = 200;
  ctx.type = 'html';
  await sendTexts(ctx, page);
}

/**
 * Returns the organization's origins, and those of a launch's platform; null for any. The console may frame previews.
 *
 * @param ownUrls the URLs of this Lectern
 */
function allowedOriginsOf(
  organization: Organization | null,
  token: PlayerToken,
  ownUrls: readonly string[],
): readonly string[] | null {
  const { allowedOrigins = [] } = organization ?? {};
  if (allowedOrigins.length === 0) return null;
  const { platformOrigins = [] } = token.kind === 'launch' ? token : {};
  const ownOrigins = token.kind === 'preview' ? ownUrls.map((url) => new URL(url).origin) : [];
  return [...new Set([...allowedOrigins, ...platformOrigins, ...ownOrigins])];
}

/** Returns the language that a platform requests; undefined if Lectern has no messages in it. */
function platformLanguage(token: PlayerToken): string | undefined {
  return token.kind === 'launch' ? supportedLanguage(token.locale ?? '') : undefined;
}

function pageUrls({ config, player }: PageDependencies, ctx: Context, lessonId: string | null): PageUrls {
  const base = publicPath(config);
  return {
    player: `${base}/player/${player.name}/`,
    oembed: lessonId === null ? null : base + oembedPath(publicUrlOf(ctx, config), lessonId),
  };
}

function lessonIdOf(ctx: Context): string | null {
  return playerLessonId.safeParse(pathParam(ctx, 'lessonId')).data ?? null;
}

const tokenCodes: Partial<Record<TokenFault, FailureCode>> = {
  'Token expired': 'token_expired',
  'Token revoked': 'token_revoked',
};

const otherCodes: Partial<Record<ErrorCode, FailureCode>> = {
  BAD_REQUEST: 'bad_address',
  FORBIDDEN: 'wrong_lesson',
  NOT_FOUND: 'not_available',
  GONE: 'learner_erased',
  INVALID_CONTENT: 'not_playable',
  TOO_MANY_REQUESTS: 'too_many_requests',
};

function codeOf(failure: LecternError): FailureCode {
  if (failure instanceof TokenError) return tokenCodes[failure.reason] ?? 'token_invalid';
  return otherCodes[failure.code] ?? 'server_error';
}
