import type { Context } from 'koa';
import type { LtiKeys } from '../../shared/lti/keys.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  changePlatform,
  createPlatform,
  findKeySetOfClient,
  findPlatform,
  findPlatformsOfIssuer,
  removePlatform,
} from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { isInvitedKeySet } from '../../shared/models/lti-registration.ts';
import { newestFirst } from '../../shared/models/newest-first.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { apiAccess } from '../accounts/access.ts';
import type { ApiCaller } from '../accounts/access.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { listQuery, presentPosition } from '../http/pagination.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import {
  assertPlatformUrls,
  newPlatformSchema,
  platformChangesSchema,
  platformParams,
  urlFault,
} from './platform-requests.ts';
import { examplePlatform, platformBody, platformPage, presentPlatform } from './present-platform.ts';

const common = {
  access: apiAccess,
  scope: 'platforms',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Platforms',
} as const;
const ofOne = { ...common, path: '/api/platforms/:platformId', params: platformParams } as const;

const notFoundText = 'Platform not found';
const notFound = failure('There is no such platform, or it belongs to another organization.', notFoundText);
const operatorText =
  'Only the operator can connect this platform, because organizations share its issuer and client id';
const takenText = 'A platform with this issuer and client id has the deployment already (1).';
const conflict = failure(
  'The platform has the deployment already, or the operator must connect it.',
  takenText,
  operatorText,
);

interface PlatformDependencies {
  db: Database;
  config: Pick<Config, 'publicUrl' | 'download'>;
  lti: { keys: Pick<LtiKeys, 'signer'> };
}

/** Platforms whose customers share one client id, and differ by deployment only. */
const sharedIssuers = ['https://blackboard.com'];

/**
 * Prevents that an organization gets launches of another one's learners, by claiming a deployment of a client that both
 * have. Nothing but the operator's word says whose it is.
 *
 * @throws {LecternError} CONFLICT
 */
async function requireOwnClient(
  db: Database,
  { organization }: ApiCaller,
  { issuer, clientId }: Pick<LtiPlatform, 'issuer' | 'clientId'>,
): Promise<void> {
  const others = await findPlatformsOfIssuer(db, issuer, clientId);
  const isShared =
    sharedIssuers.includes(issuer) ||
    others.some(({ organizationId, status }) => organizationId !== organization._id && status === 'active');
  if (isShared) throw new LecternError('CONFLICT', operatorText);
}

/** @throws {LecternError} NOT_FOUND */
async function requirePlatform(db: Database, { organization }: ApiCaller, id: string): Promise<LtiPlatform> {
  const platform = await findPlatform(db, id);
  if (platform?.organizationId !== organization._id) throw new LecternError('NOT_FOUND', notFoundText);
  return platform;
}

function present(ctx: Context, { config }: Pick<PlatformDependencies, 'config'>, platform: LtiPlatform) {
  return presentPlatform(platform, publicUrlOf(ctx, config));
}

/** GET /api/platforms */
export const listPlatformsEndpoint = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/platforms',
    query: listQuery('platforms'),
    operationId: 'listPlatforms',
    summary: 'List learning platforms',
    description: 'The newest first, with their last launches. Follow `nextCursor` until it is null.',
    responses: {
      200: json('A page of platforms.', platformPage, {
        one: { value: { platforms: [examplePlatform], nextCursor: null } },
      }),
    },
  },
  (deps: PlatformDependencies) =>
    async ({ ctx, caller, query: { limit, cursor = null } }) => {
      const filter = { organizationId: caller.organization._id };
      const { entries, next } = await newestFirst(deps.db.ltiPlatforms, filter, { limit, after: cursor });
      const platforms = entries.map((platform) => present(ctx, deps, platform));
      return { status: 200, body: { platforms, nextCursor: presentPosition(next) } };
    },
);

/** POST /api/platforms */
export const addPlatform = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/platforms',
    audit: 'platform.add',
    idempotent: true,
    operationId: 'addPlatform',
    summary: 'Connect a learning platform by hand',
    description:
      'For a platform in which an administrator has entered the URLs of an open registration. Platforms with dynamic ' +
      'registration connect themselves.',
    body: strictBody(
      newPlatformSchema,
      {
        moodle: {
          value: {
            ...{ name: examplePlatform.name, issuer: examplePlatform.issuer },
            ...{ clientId: examplePlatform.clientId, deploymentIds: ['1'], authUrl: examplePlatform.authUrl },
            ...{ tokenUrl: examplePlatform.tokenUrl, jwksUrl: examplePlatform.jwksUrl },
          },
        },
      },
      [urlFault],
    ),
    responses: {
      201: json('The platform.', platformBody, { added: { value: examplePlatform } }),
      404: failure('The organization has no registration with this key set.', 'Key set not found'),
      409: conflict,
    },
  },
  (deps: PlatformDependencies) =>
    async ({ ctx, caller, readBody, newId }) => {
      const { keySetId: given, ...fields } = await readBody();
      const { db } = deps;
      const organizationId = caller.organization._id;
      assertPlatformUrls(fields, deps.config);
      const existing = await findPlatform(db, newId);
      if (existing !== null) return { status: 201, body: present(ctx, deps, existing) };
      await requireOwnClient(db, caller, fields);
      if (given !== undefined && !(await isInvitedKeySet(db, { keySetId: given, organizationId })))
        throw new LecternError('NOT_FOUND', 'Key set not found');
      const keySetId = given ?? (await findKeySetOfClient(db, fields));
      const added = await createPlatform(db, {
        ...{ _id: newId, organizationId, ...fields, status: 'active' },
        ...(keySetId !== null && { keySetId }),
      });
      await deps.lti.keys.signer(added.keySetId);
      return { status: 201, body: present(ctx, deps, added) };
    },
);

/** GET /api/platforms/{platformId} */
export const getPlatform = defineEndpoint(
  {
    ...ofOne,
    method: 'get',
    operationId: 'getPlatform',
    summary: 'Read a learning platform',
    responses: {
      200: json('The platform.', platformBody, { one: { value: examplePlatform } }),
      404: notFound,
    },
  },
  (deps: PlatformDependencies) =>
    async ({ ctx, caller, params }) => {
      const platform = await requirePlatform(deps.db, caller, params.platformId);
      return { status: 200, body: present(ctx, deps, platform) };
    },
);

/** PATCH /api/platforms/{platformId} */
export const changePlatformEndpoint = defineEndpoint(
  {
    ...ofOne,
    method: 'patch',
    audit: 'platform.change',
    operationId: 'changePlatform',
    summary: 'Approve or change a learning platform',
    description:
      'Changes the given fields. Approve a platform that registered itself only if you know it: it may claim any ' +
      'issuer. Its id and its learners’ records stay.',
    body: strictBody(
      platformChangesSchema,
      { approved: { value: { status: 'active', addDeploymentIds: ['2'] } } },
      [urlFault],
    ),
    responses: {
      200: json('The platform.', platformBody, { one: { value: examplePlatform } }),
      404: notFound,
      409: conflict,
    },
  },
  (deps: PlatformDependencies) =>
    async ({ ctx, caller, params: { platformId: id }, readBody }) => {
      const { addDeploymentIds = [], ...changes } = await readBody();
      assertPlatformUrls(changes, deps.config);
      const platform = await requirePlatform(deps.db, caller, id);
      const isOnlyName = Object.keys(changes).every((field) => field === 'name');
      if (!isOnlyName || addDeploymentIds.length > 0) await requireOwnClient(deps.db, caller, platform);
      const changed = await changePlatform(deps.db, id, changes, addDeploymentIds);
      if (changed === null) throw new LecternError('NOT_FOUND', notFoundText);
      const details = { fields: Object.keys(changes).join(' '), newDeployments: addDeploymentIds.length };
      auditedChange.set(ctx, { details });
      return { status: 200, body: present(ctx, deps, changed) };
    },
);

/** DELETE /api/platforms/{platformId} */
export const removePlatformEndpoint = defineEndpoint(
  {
    ...ofOne,
    method: 'delete',
    audit: 'platform.remove',
    operationId: 'removePlatform',
    summary: 'Remove a learning platform',
    description: 'Rejects its launches and sends it no more grades. The records of its learners stay.',
    responses: { 204: empty('It is removed.'), 404: notFound },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      await requirePlatform(db, caller, params.platformId);
      await removePlatform(db, params.platformId);
      return { status: 204 };
    },
);

/** In the order in which requests match them. */
export const platformEndpoints = [
  getPlatform,
  changePlatformEndpoint,
  removePlatformEndpoint,
  addPlatform,
  listPlatformsEndpoint,
] as const;
