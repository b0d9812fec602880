import { signContentUrl } from '../../shared/media/content-urls.ts';
import { testAssetSecret } from '../support/harness.ts';
import type { AskOptions } from '../support/answers.ts';
import { launchTokenOf, tokenOf, writeOf } from '../support/tenants.ts';
import type { IdName, Ids, Tenant } from '../support/tenants.ts';

/** How a request identifies its organization; `pinned` is an embed token that names a version. */
export type Caller = 'bearer' | 'session' | 'embed' | 'pinned' | 'launch' | 'anyone';

/** An endpoint that takes ids. */
export interface Endpoint {
  callers: Caller[];
  /** Ids in the request itself, in addition to those in its token. */
  ids: IdName[];
  /** Builds the request, with ids of the caller or of another organization. */
  ask: (ids: Ids, tenant: Tenant) => Asking;
}

interface Asking extends Pick<AskOptions, 'method'> {
  headers?: Record<string, string>;
  /** The path and query after the API's base URL. */
  path: string;
  query?: Record<string, string>;
  json?: object;
}

/** The parts of a request that its method and path do not determine. */
interface Row {
  /** By default, API credentials and a session. */
  callers?: Caller[];
  /** Ids outside of the path. */
  more?: IdName[];
  headers?: Record<string, string>;
  query?: (ids: Ids) => Record<string, string>;
  json?: (ids: Ids, tenant: Tenant) => object;
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

/** Makes a tenant's request for `ask`, with the token that its organization could sign for these ids. */
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
/** Parameters that sign the ids beside them and identify nothing themselves. */
const signing = ['expires', 'signature'];
const content = '/content/v1/:lessonId/:versionId/:expires/:signature';
const upload = { 'tus-resumable': '1.0.0', 'upload-offset': '0' };
const replay = { json: () => ({ since: '2026-01-01T00:00:00Z' }) };

const rows: Record<string, Row> = {
  'POST /api/public/sign-token': {
    more: ['lessonId', 'versionId', 'learnerId'],
    json: ({ lessonId, versionId, learnerId }) => ({ lessonId, versionId, learnerId }),
  },
  'GET /api/public/lessons/:lessonId/progress/:learnerId': {},
  'GET /api/public/lessons/:lessonId/lti-progress/:ltiUserId': {
    more: ['platformId', 'contextId'],
    query: ({ platformId, contextId }) => ({ platformId, contextId }),
  },
  'GET /api/public/lessons/:lessonId/player-data': {
    callers: player,
    query: () => ({ include_metadata: 'true' }),
  },
  'GET /api/public/lessons/:lessonId/session': { callers: player },
  'POST /api/public/lessons/:lessonId/session': {
    callers: player,
    more: ['versionId', 'writeId', 'widgetId'],
    json: writeOf,
  },
  'GET /api/public/lessons/:lessonId/media/:mediaId': { callers: player },
  'GET /api/public/lessons/:lessonId/widgets/:file': { callers: player },
  'GET /api/public/lessons/:lessonId/content': {
    callers: player,
    more: ['versionId'],
    query: ({ versionId }) => ({ versionId }),
  },
  'GET /embed/:lessonId': { callers: player },
  [`GET ${content}/media/:mediaId`]: { callers: ['anyone'] },
  [`GET ${content}/widgets/:file`]: { callers: ['anyone'] },
  [`GET ${content}/chunks/:chunkId`]: { callers: ['anyone'] },
  'POST /api/session': {
    callers: ['anyone'],
    more: ['email'],
    json: ({ email }, { password }) => ({ email, password }),
  },
  'GET /api/erasures/:erasureId': {},
  'GET /api/deliveries': {
    more: ['lessonId', 'learnerId', 'webhookId'],
    query: ({ lessonId, learnerId, webhookId }) => ({ lessonId, learnerId, targetId: webhookId }),
  },
  'POST /api/deliveries/:deliveryId/resend': {},
  'POST /api/deliveries/:deliveryId/dismiss': {},
  'GET /api/lessons': {
    more: ['cursor'],
    query: ({ cursor }) => ({ cursor }),
  },
  'GET /api/lessons/:lessonId': {},
  'GET /api/lessons/:lessonId/versions': {},
  'GET /api/lessons/:lessonId/uses': {},
  'GET /api/lessons/:lessonId/learners': {},
  'GET /api/lessons/:lessonId/learners.csv': {},
  'GET /api/lessons/:lessonId/learners.ndjson': {},
  'GET /api/lessons/:lessonId/answers.csv': {},
  'GET /api/lessons/:lessonId/statistics': {},
  'GET /api/lessons/:lessonId/player-data': {
    callers: ['session'],
    more: ['versionId'],
    query: ({ versionId }) => ({ versionId }),
  },
  'GET /api/lessons/:lessonId/versions/:versionId/export-zip': {},
  'GET /api/lessons/:lessonId/versions/:versionId/export-manifest': {},
  'GET /api/lessons/:lessonId/versions/:versionId/export-status': {},
  'DELETE /api/lessons/:lessonId/versions/:versionId/export-status': {},
  'GET /api/lessons/:lessonId/versions/:versionId/check': {},
  'GET /api/lessons/:lessonId/versions/:versionId/conversion-report': {},
  'GET /api/lessons/:lessonId/versions/:versionId/changes': {
    query: ({ versionId }) => ({ since: versionId }),
  },
  'POST /api/lessons/:lessonId/versions/:versionId/publish': {},
  'POST /api/lessons/:lessonId/versions/:versionId/preview-links': {},
  'HEAD /api/lessons/imports/:importId': { headers: upload },
  'GET /api/lessons/imports/:importId': { headers: upload },
  'PATCH /api/lessons/imports/:importId': {
    headers: { ...upload, 'content-type': 'application/offset+octet-stream' },
  },
  'GET /api/xapi-destinations/:destinationId': {},
  'PATCH /api/xapi-destinations/:destinationId': { json: () => ({ passingScore: 0.5 }) },
  'POST /api/xapi-destinations/:destinationId/test': {},
  'POST /api/xapi-destinations/:destinationId/replay': replay,
  'GET /api/webhooks/:webhookId': {},
  'PATCH /api/webhooks/:webhookId': { json: () => ({ description: 'Changed' }) },
  'GET /api/webhooks/:webhookId/deliveries': {},
  'POST /api/webhooks/:webhookId/test': {},
  'POST /api/webhooks/:webhookId/rotate': { json: () => ({}) },
  'POST /api/webhooks/:webhookId/replay': replay,
  'POST /api/webhooks/:webhookId/deliveries/:deliveryId/resend': {},
  'GET /api/users/:userId': {},
  'GET /api/grades': {
    more: ['platformId', 'lessonId', 'ltiUserId'],
    query: ({ platformId, lessonId, ltiUserId }) => ({ platformId, lessonId, ltiUserId }),
  },
  'GET /api/exports': { more: ['lessonId'], query: ({ lessonId }) => ({ lessonId }) },
};

/** Every endpoint that takes an id of an organization's resource. */
export const endpoints: Record<string, Endpoint> = Object.fromEntries(
  Object.entries(rows).map(([name, row]) => [name, endpointOf(name, row)]),
);

function endpointOf(
  name: string,
  { callers = ['bearer', 'session'], more = [], headers, query, json }: Row,
): Endpoint {
  const [method = '', pattern = ''] = name.split(' ');
  const parameters = [...pattern.matchAll(/:(\w+)/g)].map(([, parameter = '']) => parameter);
  const inPath = parameters.filter((parameter) => !signing.includes(parameter));
  return {
    callers,
    ids: [...inPath.map((parameter) => (parameter === 'file' ? 'widgetType' : parameter) as IdName), ...more],
    ask: (ids, tenant) => ({
      method,
      path: pathOf(pattern, ids, tenant),
      ...(headers !== undefined && { headers }),
      ...(query !== undefined && { query: query(ids) }),
      ...(json !== undefined && { json: json(ids, tenant) }),
    }),
  };
}

/** Fills in the ids; the signature is the one that a tenant got for its own version. */
function pathOf(pattern: string, ids: Ids, { ids: own }: Tenant): string {
  const kind = pattern.endsWith(':chunkId') ? 'chunks' : 'files';
  const [expires = '', signature = ''] = signContentUrl(testAssetSecret, kind, own).url.split('/').slice(-3);
  const values: Record<string, string> = { ...ids, file: `${ids.widgetType}.js`, expires, signature };
  return pattern.replaceAll(/:(\w+)/g, (_, parameter: string) => {
    const value = values[parameter];
    if (value === undefined) throw new Error(`${pattern}: no id for ${parameter}`);
    return value;
  });
}

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
  'POST /api/lessons': 'the credentials name the organization',
  'POST /api/lessons/:lessonId/versions/:versionId/copies':
    'copies have other ids; test/publishing/publishing-api.test.ts copies the version of another organization',
  'POST /api/lessons/:lessonId/draft':
    'a draft belongs to one lesson; test/drafts/drafts-api.test.ts asks for that of another organization',
  'GET /api/lessons/:lessonId/draft': 'as above',
  'PUT /api/lessons/:lessonId/draft': 'as above',
  'DELETE /api/lessons/:lessonId/draft': 'as above',
  'GET /api/lessons/:lessonId/draft/steps/:stepId': 'as above',
  'PUT /api/lessons/:lessonId/draft/steps/:stepId': 'as above',
  'POST /api/lessons/:lessonId/draft/publish': 'as above',
  'GET /api/lessons/:lessonId/draft/preview-frame': 'as above',
  'GET /api/media': 'the credentials name the organization',
  'GET /api/media/:fileId': 'test/media/library.test.ts asks for the file of another organization',
  'PATCH /api/media/:fileId': 'as above',
  'POST /api/media/:fileId/replace': 'as above',
  'DELETE /api/media/:fileId': 'as above',
  'GET /api/lessons/imports': 'the credentials name the organization',
  'POST /api/lessons/imports': 'as above',
  'DELETE /api/lessons/imports/:importId':
    'it would end the other tests; test/imports/imports.test.ts cancels the import of another organization',
  'GET /openapi.json': 'it is the same for all callers',
  'GET /docs': 'it is the same for all callers',
  'GET /docs/scalar.js': 'it is the same for all callers',
  'GET /schemas/lesson.json': 'it is the same for all callers',
  'GET /client.tgz': 'it is the same for all callers',
  'GET /assets/*address': 'the signature is the authorization, and covers the whole URL',
  'GET /oembed': 'it looks nothing up',
  'GET /lti/register/:token': 'the token is the authorization, and names the organization',
  'GET /lti/jwks/:keySetId': 'the keys are public',
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
  'PUT /api/session/password': 'as above',
  'POST /api/session/two-step': 'as above',
  'PUT /api/session/two-step': 'as above',
  'POST /api/session/two-step/disable': 'as above',
  'POST /api/session/two-step/recovery-codes': 'as above',
  'POST /api/invitation': 'the token is the authorization, and names the user',
  'POST /api/invitation/accept': 'as above',
  'GET /api/users':
    'the caller names the organization; test/accounts/users-api.test.ts lists the users of one',
  'POST /api/users': 'as above',
  'PATCH /api/users/:userId':
    'it would end the other tests; test/accounts/users-api.test.ts sends the id of another organization',
  'DELETE /api/users/:userId': 'as above',
  'POST /api/users/:userId/invitation': 'as above',
  'GET /api/keys': 'the caller names the organization',
  'POST /api/keys': 'as above',
  'POST /api/keys/:publicKey/rotate': 'test/accounts/users-api.test.ts sends the key of another organization',
  'DELETE /api/keys/:publicKey': 'as above',
  'GET /api/organization': 'the caller names the organization',
  'PATCH /api/organization': 'as above',
  'GET /api/organization/storage': 'as above',
  'GET /api/organization/theme': 'as above',
  'PATCH /api/organization/theme': 'as above',
  'GET /api/platforms':
    'the caller names the organization; test/lti/platforms-api.test.ts lists those of one',
  'POST /api/platforms': 'as above',
  'GET /api/platforms/:platformId': 'test/lti/platforms-api.test.ts sends the id of another organization',
  'PATCH /api/platforms/:platformId': 'as above',
  'DELETE /api/platforms/:platformId': 'as above',
  'GET /api/platform-registrations': 'as above',
  'POST /api/platform-registrations': 'as above',
  'DELETE /api/platform-registrations/:registrationId': 'as above',
  'POST /api/grades/resend': 'test/lti/platforms-api.test.ts sends the ids of another organization',
  'POST /api/grades/dismiss': 'as above',
  'POST /api/exports/retry': 'test/exports/export-list.test.ts sends the ids of another organization',
  'POST /api/exports/cancel': 'as above',
  'GET /api/operator/organizations': 'operators see all organizations',
  'POST /api/operator/organizations': 'as above',
  'GET /api/operator/organizations/:organizationId': 'as above',
  'PATCH /api/operator/organizations/:organizationId': 'as above',
  'POST /api/operator/organizations/:organizationId/users': 'as above',
  'GET /api/operator/exports': 'as above',
  'GET /api/operator/users': 'operators belong to no organization',
  'POST /api/operator/users': 'as above',
  'PATCH /api/operator/users/:userId':
    'as above; test/organizations/organizations.test.ts tries to change a user of an organization',
  'DELETE /api/operator/users/:userId': 'as above',
  'POST /api/operator/users/:userId/invitation': 'as above',
  'GET /api/operator/health': 'as above',
  'GET /api/operator/queues': 'as above',
  'GET /api/operator/storage': 'as above',
  'DELETE /api/session': 'the cookie names the session',
};
