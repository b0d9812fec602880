import { signChunksUrl, signContentUrl } from '../../shared/media/content-urls.ts';
import { testAssetSecret } from '../support/harness.ts';
import type { AskOptions } from '../support/answers.ts';
import { launchTokenOf, tokenOf, writeOf } from '../support/tenants.ts';
import type { IdName, Ids, Tenant } from '../support/tenants.ts';

/** How a request identifies its organization; `pinned` is an embed token that names a version. */
export type Caller = 'bearer' | 'session' | 'embed' | 'pinned' | 'launch' | 'anyone';

interface Asking extends Pick<AskOptions, 'method'> {
  headers?: Record<string, string>;
  /** The path and query after the API's base URL. */
  path: string;
  query?: Record<string, string>;
  json?: object;
}

/** An endpoint that takes ids. */
export interface Endpoint {
  callers: Caller[];
  /** Ids in the request itself, in addition to those in its token. */
  ids: IdName[];
  /** Builds the request, with ids of the caller or of another organization. */
  ask: (ids: Ids, tenant: Tenant) => Asking;
}

/** Token claims that are ids. */
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

/**
 * Makes a tenant's request for `ask`, with the token that its organization could sign for these
 * ids.
 */
export function requestOf(
  endpoint: Endpoint,
  caller: Caller,
  tenant: Tenant,
  ids: Ids,
): { path: string; options: AskOptions } {
  const { path, method, query = {}, json, headers: more } = endpoint.ask(ids, tenant);
  const search = new URLSearchParams(query);
  if (caller === 'embed') search.set('token', tokenOf(tenant, ids));
  if (caller === 'pinned') search.set('token', tokenOf(tenant, ids, ids.claimedVersionId));
  if (caller === 'launch') search.set('token', launchTokenOf(tenant, ids));
  const headers = {
    // The length of a compressed body depends on random ids in it.
    'accept-encoding': 'identity',
    ...more,
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

/** Returns the URL that a tenant got for its own version, with other ids substituted. */
function contentOf({ lessonId, versionId }: Ids, { ids }: Tenant, sign = signContentUrl): string {
  const { url } = sign(testAssetSecret, ids);
  return url.replace(ids.lessonId, lessonId).replace(ids.versionId, versionId);
}

function onVersion(method: string, name: string): Record<string, Endpoint> {
  const ask: Endpoint['ask'] = (ids) => ({
    method,
    path: `${lesson(ids)}/versions/${ids.versionId}/${name}`,
  });
  const path = `/api/lessons/:lessonId/versions/:versionId/${name}`;
  return { [`${method} ${path}`]: { callers: ['bearer'], ids: ['lessonId', 'versionId'], ask } };
}

function ofLearners(name: string): Record<string, Endpoint> {
  const ask: Endpoint['ask'] = ({ lessonId }) => ({ path: `/api/lessons/${lessonId}/${name}` });
  return { [`GET /api/lessons/:lessonId/${name}`]: { callers: ['bearer'], ids: ['lessonId'], ask } };
}

function ofImport(method: string): Record<string, Endpoint> {
  const ask: Endpoint['ask'] = ({ importId }) => ({
    method,
    path: `/api/lessons/imports/${importId}`,
    headers: {
      ...{ 'tus-resumable': '1.0.0', 'upload-offset': '0' },
      ...(method === 'PATCH' && { 'content-type': 'application/offset+octet-stream' }),
    },
  });
  const path = '/api/lessons/imports/:importId';
  return { [`${method} ${path}`]: { callers: ['bearer'], ids: ['importId'], ask } };
}

function ofDelivery(name: string): Record<string, Endpoint> {
  const ask: Endpoint['ask'] = ({ deliveryId }) => ({
    method: 'POST',
    path: `/api/deliveries/${deliveryId}/${name}`,
  });
  const path = `POST /api/deliveries/:deliveryId/${name}`;
  return { [path]: { callers: ['bearer'], ids: ['deliveryId'], ask } };
}

function ofDestination(method: string, name: string, json?: object): Record<string, Endpoint> {
  const ask: Endpoint['ask'] = ({ destinationId }) => ({
    ...{ method, path: `/api/xapi-destinations/${destinationId}${name}` },
    ...(json !== undefined && { json }),
  });
  const path = `${method} /api/xapi-destinations/:destinationId${name}`;
  return { [path]: { callers: ['bearer'], ids: ['destinationId'], ask } };
}

function ofWebhook(method: string, name: string, json?: object): Record<string, Endpoint> {
  const ask: Endpoint['ask'] = ({ webhookId }) => ({
    ...{ method, path: `/api/webhooks/${webhookId}${name}` },
    ...(json !== undefined && { json }),
  });
  return { [`${method} /api/webhooks/:webhookId${name}`]: { callers: ['bearer'], ids: ['webhookId'], ask } };
}

/** Every endpoint that takes an id of an organization's resource. */
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
  'GET /content/v1/:lessonId/:versionId/:expires/:signature/chunks/:chunkId': {
    callers: ['anyone'],
    ids: ['lessonId', 'versionId', 'chunkId'],
    ask: (ids, tenant) => ({ path: `${contentOf(ids, tenant, signChunksUrl)}chunks/${ids.chunkId}` }),
  },
  'POST /api/session': {
    callers: ['anyone'],
    ids: ['email'],
    ask: ({ email }, { password }) => ({ method: 'POST', path: '/api/session', json: { email, password } }),
  },
  'GET /api/erasures/:erasureId': {
    callers: ['bearer'],
    ids: ['erasureId'],
    ask: ({ erasureId }) => ({ path: `/api/erasures/${erasureId}` }),
  },
  'GET /api/deliveries': {
    callers: ['bearer'],
    ids: ['lessonId', 'learnerId'],
    ask: ({ lessonId, learnerId }) => ({ path: '/api/deliveries', query: { lessonId, learnerId } }),
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
  ...ofLearners('learners'),
  ...ofLearners('learners.csv'),
  ...ofLearners('learners.ndjson'),
  ...ofLearners('answers.csv'),
  ...ofLearners('statistics'),
  'GET /api/lessons/:lessonId/player-data': {
    callers: ['session'],
    ids: ['lessonId', 'versionId'],
    ask: (ids) => ({ path: `${lesson(ids)}/player-data`, query: { versionId: ids.versionId } }),
  },
  ...ofImport('HEAD'),
  ...ofImport('GET'),
  ...ofImport('PATCH'),
  ...ofDelivery('resend'),
  ...ofDelivery('dismiss'),
  ...ofDestination('GET', ''),
  ...ofDestination('PATCH', '', { passingScore: 0.5 }),
  ...ofDestination('POST', '/replay', { since: '2026-01-01T00:00:00Z' }),
  ...ofWebhook('GET', ''),
  ...ofWebhook('PATCH', '', { description: 'Changed' }),
  ...ofWebhook('GET', '/deliveries'),
  ...ofWebhook('POST', '/test'),
  ...ofWebhook('POST', '/rotate', {}),
  ...ofWebhook('POST', '/replay', { since: '2026-01-01T00:00:00Z' }),
  'POST /api/webhooks/:webhookId/deliveries/:deliveryId/resend': {
    callers: ['bearer'],
    ids: ['webhookId', 'deliveryId'],
    ask: ({ webhookId, deliveryId }) => ({
      method: 'POST',
      path: `/api/webhooks/${webhookId}/deliveries/${deliveryId}/resend`,
    }),
  },
  ...onVersion('GET', 'export-zip'),
  ...onVersion('GET', 'export-manifest'),
  ...onVersion('GET', 'export-status'),
  ...onVersion('DELETE', 'export-status'),
  ...onVersion('GET', 'check'),
  ...onVersion('POST', 'publish'),
  ...onVersion('POST', 'preview-links'),
};

/** All other endpoints, and why they take no ids of an organization. */
export const withoutIds: Record<string, string> = {
  'GET /': 'it is the same for all callers; start-page.test.ts tests its link to the demo lesson',
  'GET /favicon.svg': 'it is the same for all callers',
  'GET /favicon.ico': 'it is the same for all callers',
  'GET /health/live': 'it describes the process',
  'GET /health/ready': 'it describes the process',
  'DELETE /api/learners/:learnerId':
    'it would end the other tests; test/erasure/erasure.test.ts erases learners with the ids of others',
  'DELETE /api/lti-learners/:ltiUserId': 'as above',
  'GET /api/learners/:learnerId/export':
    'archives contain the time; test/erasure/erasure.test.ts exports learners with the ids of others',
  'GET /api/lti-learners/:ltiUserId/export': 'as above',
  'GET /api/audit':
    'the credentials name the organization; test/audit/audit-api.test.ts reads the log of another one',
  'GET /api/retention': 'the credentials name the organization',
  'PUT /api/retention': 'as above',
  'GET /api/xapi-destinations': 'the credentials name the organization',
  'POST /api/xapi-destinations': 'as above',
  'DELETE /api/xapi-destinations/:destinationId':
    'it would end the other tests; test/xapi/xapi.test.ts deletes the destination of another organization',
  'GET /api/webhooks': 'the credentials name the organization',
  'POST /api/webhooks': 'as above',
  'DELETE /api/webhooks/:webhookId':
    'it would end the other tests; test/webhooks/webhooks.test.ts deletes the webhook of another organization',
  'POST /api/lessons/:lessonId/versions/:versionId/unpublish':
    'it would end the other tests; test/publishing/publishing-api.test.ts unpublishes the version of another organization',
  'DELETE /api/lessons/:lessonId': 'as above',
  'GET /api/lessons/imports': 'the credentials name the organization',
  'POST /api/lessons/imports': 'as above',
  'DELETE /api/lessons/imports/:importId':
    'it would end the other tests; test/imports/imports.test.ts cancels the import of another organization',
  'GET /openapi.json': 'it is the same for all callers',
  'GET /docs': 'it is the same for all callers',
  'GET /docs/scalar.js': 'it is the same for all callers',
  'GET /assets/*address': 'the signature is the authorization, and covers the whole URL',
  'GET /oembed': 'it looks nothing up',
  'GET /lti/register/:token': 'the token is the authorization, and names the organization',
  'GET /lti/jwks': 'it is the same for all callers',
  'GET /lti/login': 'the platform identifies the user, and only a signed launch names what to open',
  'POST /lti/login': 'as above',
  'GET /lti/login/checked': 'as above',
  'POST /lti/login/checked': 'as above',
  'POST /lti/launch': 'test/lti tests who may launch what',
  'GET /lti/select/:selectionId':
    'the id is the authorization; test/lti/selection-page.test.ts tests what it opens',
  'GET /lti/select/:selectionId/preview/:lessonId': 'as above',
  'POST /lti/select/:selectionId': 'as above',
  'GET /player/:release/:file': 'it is the same for all callers',
  'GET /embed.js': 'it is the same for all callers',
  'GET /api/session': 'the cookie names the session',
  'DELETE /api/session': 'the cookie names the session',
};
