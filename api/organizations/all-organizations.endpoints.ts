import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { newestFirst } from '../../shared/models/newest-first.ts';
import {
  changeOrganization,
  createOrganization,
  findOrganization,
  suspendOrganization,
} from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { sessionAccess } from '../accounts/access.ts';
import { endSessions } from '../../shared/models/user.ts';
import { createInvitedUser } from '../accounts/invite.ts';
import { exampleInvited, exampleUser, invitedUser, presentListedUser } from '../accounts/present-user.ts';
import { newUserSchema, presentInvitation, taken } from '../accounts/users.endpoints.ts';
import type { UserDependencies } from '../accounts/users.endpoints.ts';
import { auditedCaller, auditedChange } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { listQuery, nextCursorField, presentPosition } from '../http/pagination.ts';
import { failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { newOrganization, operatedChanges } from './organization-requests.ts';
import { exampleOperated, operatedOrganization, presentOperated } from './present-organization.ts';

/* For operators: the organizations of the installation. */

const notFoundText = 'Organization not found';
const notFound = failure('There is no such organization.', notFoundText);

const common = {
  access: sessionAccess,
  scope: 'operator',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Operation',
} as const;
const ofOne = {
  ...common,
  path: '/api/operator/organizations/:organizationId',
  params: z.object({
    organizationId: z
      .guid('Invalid organization ID format')
      .toLowerCase()
      .meta({ description: 'Id of the organization.' }),
  }),
} as const;

async function requireOrganization(db: Database, id: string): Promise<Organization> {
  const found = await findOrganization(db, id);
  if (found === null) throw new LecternError('NOT_FOUND', notFoundText);
  return found;
}

/** Records the change in the log of the organization, whose administrators read it there. */
function setAudited(ctx: EndpointContext, operatorId: string, organizationId: string): void {
  auditedCaller.set(ctx, { organizationId, actor: { type: 'operator', id: operatorId } });
}

/** GET /api/operator/organizations */
export const listOrganizationsEndpoint = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/operator/organizations',
    query: listQuery('organizations'),
    operationId: 'listOrganizations',
    summary: 'List organizations',
    description: 'The newest first. Follow `nextCursor` until it is null.',
    responses: {
      200: json(
        'A page of organizations.',
        z.strictObject({ organizations: z.array(operatedOrganization), nextCursor: nextCursorField }),
        { one: { value: { organizations: [exampleOperated], nextCursor: null } } },
      ),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ query: { limit, cursor = null } }) => {
      const { entries, next } = await newestFirst(db.organizations, {}, { limit, after: cursor });
      const organizations = entries.map(presentOperated);
      return { status: 200, body: { organizations, nextCursor: presentPosition(next) } };
    },
);

/** POST /api/operator/organizations */
export const createOrganizationEndpoint = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/operator/organizations',
    audit: 'organization.create',
    idempotent: true,
    operationId: 'createOrganization',
    summary: 'Create an organization',
    description: 'Then invite its first administrator.',
    body: strictBody(newOrganization, {
      acme: { value: { slug: 'acme', name: 'Acme Academy', plan: 'edtech' } },
    }),
    responses: {
      201: json('The organization.', operatedOrganization, { created: { value: exampleOperated } }),
      409: failure('The slug is taken.', 'An organization with the slug "acme" exists.'),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ ctx, caller: { user }, readBody, newId }) => {
      const fields = await readBody();
      const created =
        (await findOrganization(db, newId)) ?? (await createOrganization(db, { _id: newId, ...fields }));
      setAudited(ctx, user._id, created._id);
      auditedChange.set(ctx, { target: { type: 'organization', id: created._id } });
      return { status: 201, body: presentOperated(created) };
    },
);

/** GET /api/operator/organizations/{organizationId} */
export const getOperatedOrganization = defineEndpoint(
  {
    ...ofOne,
    method: 'get',
    operationId: 'getOperatedOrganization',
    summary: 'Read an organization as an operator',
    responses: {
      200: json('The organization.', operatedOrganization, { one: { value: exampleOperated } }),
      404: notFound,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ params }) => ({
      status: 200,
      body: presentOperated(await requireOrganization(db, params.organizationId)),
    }),
);

/** PATCH /api/operator/organizations/{organizationId} */
export const changeOperatedOrganization = defineEndpoint(
  {
    ...ofOne,
    method: 'patch',
    audit: 'organization.change',
    operationId: 'changeOperatedOrganization',
    summary: 'Change an organization as an operator',
    description: 'Changes the given fields, with effect from the next request.',
    body: strictBody(operatedChanges, { plan: { value: { plan: 'edtech' } } }),
    responses: {
      200: json('The organization.', operatedOrganization, { one: { value: exampleOperated } }),
      404: notFound,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ ctx, caller: { user }, params: { organizationId: id }, readBody }) => {
      const { status, ...changes } = await readBody();
      await requireOrganization(db, id);
      if (status !== undefined) await suspendOrganization(db, id, status === 'suspended');
      if (status === 'suspended') await endSessions(db, id);
      const changed = await changeOrganization(db, { _id: id }, changes);
      if (changed === null) throw new LecternError('NOT_FOUND', notFoundText);
      setAudited(ctx, user._id, id);
      const details = { ...changes, ...(status !== undefined && { status }) };
      auditedChange.set(ctx, { details, target: { type: 'organization', id } });
      return { status: 200, body: presentOperated(changed) };
    },
);

/** POST /api/operator/organizations/{organizationId}/users */
export const inviteFirstUser = defineEndpoint(
  {
    ...ofOne,
    method: 'post',
    path: '/api/operator/organizations/:organizationId/users',
    audit: 'user.invite',
    idempotent: true,
    operationId: 'inviteOrganizationUser',
    summary: 'Invite a user to an organization as an operator',
    description:
      'As `POST /api/users`, for an organization that has no administrator yet or has lost all of them.',
    body: strictBody(newUserSchema, { admin: { value: { email: exampleUser.email, role: 'admin' } } }),
    responses: {
      201: json('The user, with the invitation.', invitedUser, { invited: { value: exampleInvited } }),
      404: notFound,
      409: taken,
    },
  },
  (deps: UserDependencies) =>
    async ({ ctx, caller, params: { organizationId }, readBody, newId }) => {
      const { email, role } = await readBody();
      await requireOrganization(deps.db, organizationId);
      const fields = { organizationId, email, role };
      const invited = await createInvitedUser(deps.db, deps.secrets.keyPepper, fields, {
        id: newId,
        by: caller.user._id,
      });
      setAudited(ctx, caller.user._id, organizationId);
      auditedChange.set(ctx, { target: { type: 'user', id: newId }, details: { role } });
      const invitation = presentInvitation(ctx, deps, invited);
      return { status: 201, body: { ...presentListedUser(invited.user), invitation } };
    },
);

/** In the order in which requests match them. */
export const organizationEndpoints = [
  inviteFirstUser,
  getOperatedOrganization,
  changeOperatedOrganization,
  createOrganizationEndpoint,
  listOrganizationsEndpoint,
] as const;
