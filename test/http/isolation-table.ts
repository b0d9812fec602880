import { signContentAddress } from '../../shared/media/content-urls.ts';
import { testAssetSecret } from '../support/harness.ts';
import type { AskOptions } from '../support/answers.ts';
import { launchTokenOf, tokenOf, writeOf } from '../support/tenants.ts';
import type { IdName, Ids, Tenant } from '../support/tenants.ts';

/** How a request says whose it is; `pinned` is an embed token that names a version. */
export type Caller = 'bearer' | 'session' | 'embed' | 'pinned' | 'launch' | 'anyone';

interface Asking extends Pick<AskOptions, 'method'> {
  /** Behind the address of the API. */
  path: string;
  query?: Record<string, string>;
  json?: object;
}

/** An endpoint that takes ids. */
export interface Endpoint {
  callers: Caller[];
  /** Those that a request names, besides the ones in its token. */
  ids: IdName[];
  /** The request, with ids of the caller or of someone else. */
  ask: (ids: Ids, tenant: Tenant) => Asking;
}

/** The claims that a token makes, and are ids as well. */
const claimed: Record<Caller, IdName[]> = {
  bearer: [],
  session: [],
  anyone: [],
  embed: ['claimedLessonId', 'learnerId'],
  pinned: ['claimedLessonId', 'claimedVersionId', 'learnerId'],
  launch: ['claimedLessonId', 'ltiUserId', 'platformId', 'contextId'],
};

export function idsOf({ ids }: Endpoint, caller: Caller): IdName[] {
  return [...new Set([...ids, ...claimed[caller]])];
}

/** A request of a tenant's, for `ask`. The token is one that its organization would have been given for these ids. */
export function requestOf(
  endpoint: Endpoint,
  caller: Caller,
  tenant: Tenant,
  ids: Ids,
): { path: string; options: AskOptions } {
  const { path, method, query = {}, json } = endpoint.ask(ids, tenant);
  const search = new URLSearchParams(query);
  if (caller === 'embed') search.set('token', tokenOf(tenant, ids));
  if (caller === 'pinned') search.set('token', tokenOf(tenant, ids, ids.claimedVersionId));
  if (caller === 'launch') search.set('token', launchTokenOf(tenant, ids));
  const headers = {
    ...(caller === 'bearer' && { authorization: tenant.authorization }),
    ...(caller === 'session' && { cookie: tenant.cookie }),
    ...(json !== undefined && { 'content-type': 'application/json' }),
  };
  const options: AskOptions = { headers };
  if (method !== undefined) options.method = method;
  if (json !== undefined) options.body = JSON.stringify(json);
  return { path: search.size === 0 ? path : `${path}?${search.toString()}`, options };
}

const player: Caller[] = ['embed', 'pinned', 'launch'];
const publicLesson = ({ lessonId }: Ids) => `/api/public/lessons/${lessonId}`;
const lesson = ({ lessonId }: Ids) => `/api/lessons/${lessonId}`;

/** The address that a tenant was given for its own version, with other ids in their places. */
function contentOf({ lessonId, versionId }: Ids, { ids }: Tenant): string {
  const { url } = signContentAddress(testAssetSecret, ids);
  return url.replace(ids.lessonId, lessonId).replace(ids.versionId, versionId);
}

function ofExport(method: string, name: string): Record<string, Endpoint> {
  const ask: Endpoint['ask'] = (ids) => ({
    method,
    path: `${lesson(ids)}/versions/${ids.versionId}/${name}`,
  });
  const path = `/api/lessons/:lessonId/versions/:versionId/${name}`;
  return { [`${method} ${path}`]: { callers: ['bearer'], ids: ['lessonId', 'versionId'], ask } };
}

/** Each endpoint that takes an id of something that an organization has. */
export const endpoints: Record<string, Endpoint> = {
  'POST /api/public/sign-token': {
    callers: ['bearer'],
    ids: ['lessonId', 'versionId', 'learnerId'],
    ask: ({ lessonId, versionId, learnerId }) => ({
      method: 'POST',
      path: '/api/public/sign-token',
      json: { lessonId, versionId, learnerId },
    }),
  },
  'GET /api/public/lessons/:lessonId/progress/:learnerId': {
    callers: ['bearer'],
    ids: ['lessonId', 'learnerId'],
    ask: (ids) => ({ path: `${publicLesson(ids)}/progress/${ids.learnerId}` }),
  },
  'GET /api/public/lessons/:lessonId/lti-progress/:ltiUserId': {
    callers: ['bearer'],
    ids: ['lessonId', 'ltiUserId', 'platformId', 'contextId'],
    ask: ({ platformId, contextId, ...ids }) => ({
      path: `/api/public/lessons/${ids.lessonId}/lti-progress/${ids.ltiUserId}`,
      query: { platformId, contextId },
    }),
  },
  'GET /api/public/lessons/:lessonId/player-data': {
    callers: player,
    ids: ['lessonId'],
    ask: (ids) => ({ path: `${publicLesson(ids)}/player-data`, query: { include_metadata: 'true' } }),
  },
  'GET /api/public/lessons/:lessonId/session': {
    callers: player,
    ids: ['lessonId'],
    ask: (ids) => ({ path: `${publicLesson(ids)}/session` }),
  },
  'POST /api/public/lessons/:lessonId/session': {
    callers: player,
    ids: ['lessonId', 'versionId', 'writeId', 'widgetId'],
    ask: (ids) => ({ method: 'POST', path: `${publicLesson(ids)}/session`, json: writeOf(ids, 1) }),
  },
  'GET /api/public/lessons/:lessonId/media/:mediaId': {
    callers: player,
    ids: ['lessonId', 'mediaId'],
    ask: (ids) => ({ path: `${publicLesson(ids)}/media/${ids.mediaId}` }),
  },
  'GET /api/public/lessons/:lessonId/widgets/:file': {
    callers: player,
    ids: ['lessonId', 'widgetType'],
    ask: (ids) => ({ path: `${publicLesson(ids)}/widgets/${ids.widgetType}.js` }),
  },
  'GET /api/public/lessons/:lessonId/content': {
    callers: player,
    ids: ['lessonId', 'versionId'],
    ask: (ids) => ({ path: `${publicLesson(ids)}/content`, query: { versionId: ids.versionId } }),
  },
  'GET /embed/:lessonId': {
    callers: player,
    ids: ['lessonId'],
    ask: ({ lessonId }) => ({ path: `/embed/${lessonId}` }),
  },
  'GET /content/v1/:lessonId/:versionId/:expires/:signature/media/:mediaId': {
    callers: ['anyone'],
    ids: ['lessonId', 'versionId', 'mediaId'],
    ask: (ids, tenant) => ({ path: `${contentOf(ids, tenant)}media/${ids.mediaId}` }),
  },
  'GET /content/v1/:lessonId/:versionId/:expires/:signature/widgets/:file': {
    callers: ['anyone'],
    ids: ['lessonId', 'versionId', 'widgetType'],
    ask: (ids, tenant) => ({ path: `${contentOf(ids, tenant)}widgets/${ids.widgetType}.js` }),
  },
  'POST /api/session': {
    callers: ['anyone'],
    ids: ['email'],
    ask: ({ email }, { password }) => ({ method: 'POST', path: '/api/session', json: { email, password } }),
  },
  'GET /api/lessons': {
    callers: ['bearer', 'session'],
    ids: ['cursor'],
    ask: ({ cursor }) => ({ path: '/api/lessons', query: { cursor } }),
  },
  'GET /api/lessons/:lessonId/versions': {
    callers: ['bearer', 'session'],
    ids: ['lessonId'],
    ask: (ids) => ({ path: `${lesson(ids)}/versions` }),
  },
  'GET /api/lessons/:lessonId/player-data': {
    callers: ['session'],
    ids: ['lessonId', 'versionId'],
    ask: (ids) => ({ path: `${lesson(ids)}/player-data`, query: { versionId: ids.versionId } }),
  },
  ...ofExport('GET', 'export-zip'),
  ...ofExport('GET', 'export-manifest'),
  ...ofExport('GET', 'export-status'),
  ...ofExport('DELETE', 'export-status'),
};

/** All other endpoints, and why no organization's ids stand in them. */
export const withoutIds: Record<string, string> = {
  'GET /': 'it is the same for all; its link to the demo lesson is tested in start-page.test.ts',
  'GET /favicon.svg': 'it is the same for all',
  'GET /favicon.ico': 'it is the same for all',
  'GET /health/live': 'it is about the process',
  'GET /health/ready': 'it is about the process',
  'GET /openapi.json': 'it is the same for all',
  'GET /docs': 'it is the same for all',
  'GET /assets/*address': 'the signature is the authorization, and covers all of the address',
  'GET /oembed': 'nothing is looked up',
  'GET /lti/register/:token': 'the token is the authorization, and names the organization',
  'GET /lti/jwks': 'it is the same for all',
  'GET /lti/login': 'the platform says who somebody is, and only a signed launch says what is opened',
  'POST /lti/login': 'as above',
  'GET /lti/login/checked': 'as above',
  'POST /lti/login/checked': 'as above',
  'POST /lti/launch': 'test/lti has who may launch what',
  'GET /lti/select/:choiceId': 'the id is the authorization; test/lti/choice-page.test.ts has what it opens',
  'POST /lti/select/:choiceId': 'as above',
  'GET /player/:release/:file': 'it is the same for all',
  'GET /embed.js': 'it is the same for all',
  'GET /api/session': 'the cookie names the session',
  'DELETE /api/session': 'the cookie names the session',
};
