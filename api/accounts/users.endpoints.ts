import type { Context } from 'koa';
import { z } from 'zod';
import { createInvitedUser, disabledText, inviteAgain, userNotFound } from './invite.ts';
import type { Invited } from './invite.ts';
import { organizationRoles, rolePermissions } from '../../shared/accounts/permissions.ts';
import type { Role } from '../../shared/accounts/permissions.ts';
import type { Database } from '../../shared/models/database.ts';
import { newestFirst } from '../../shared/models/newest-first.ts';
import {
  changeUser,
  deleteUser,
  disableTwoStep,
  emailSchema,
  findUser,
  invitationDays,
} from '../../shared/models/user.ts';
import type { User } from '../../shared/models/user.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { listQuery, presentPosition } from '../http/pagination.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { apiAccess } from './access.ts';
import type { ApiCaller } from './access.ts';
import {
  exampleInvitation,
  exampleInvited,
  exampleUser,
  invitationBody,
  invitedUser,
  presentListedUser,
  userBody,
  userPage,
} from './present-user.ts';

const roleFault = `role must be one of ${organizationRoles.join(', ')}`;
export const newUserSchema = z.strictObject(
  {
    email: emailSchema.meta({ description: 'Unique in the whole installation.' }),
    role: z.enum(organizationRoles, roleFault),
  },
  { error: objectFault },
);
export const changedStatus = z
  .enum(['active', 'disabled'], 'status must be active or disabled')
  .optional()
  .meta({ description: "`disabled` rejects the user's logins and ends the user's sessions for good." });
export const changedTwoStep = z.literal('off', 'twoStep must be off').optional().meta({
  description: 'Turns off two-step login, for a user who has lost the device and the recovery codes.',
});
const changesSchema = z.strictObject(
  {
    role: z.enum(organizationRoles, roleFault).optional(),
    status: changedStatus,
    twoStep: changedTwoStep,
  },
  { error: objectFault },
);

const common = {
  access: apiAccess,
  scope: 'accounts',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Users',
} as const;
const ofOne = {
  ...common,
  path: '/api/users/:userId',
  params: z.object({
    userId: z.guid('Invalid user ID format').toLowerCase().meta({ description: 'Id of the user.' }),
  }),
} as const;

const takenText = 'A user ada@acme.example exists.';
export const taken = failure('A user of any organization has the email address.', takenText);
const notFound = failure('There is no such user, or the user is of another organization.', userNotFound);
const ownAccountText = 'You cannot change your own role, and not disable or delete yourself';
const ownAccount = failure('The user is the one who sends the request.', ownAccountText);
const tooMuchText = 'Only callers who may do everything that the role "admin" may do can change such users';
const tooMuch = failure('The role may do more than the caller.', tooMuchText);

export interface UserDependencies {
  db: Database;
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'keyPepper'>;
}

/** Prevents that a caller gains rights through another user. @throws {LecternError} FORBIDDEN */
function requireRightsOf({ permissions }: ApiCaller, role: Role): void {
  if (rolePermissions[role].every((permission) => permissions.includes(permission))) return;
  throw new LecternError('FORBIDDEN', tooMuchText.replace('admin', role));
}

/** Returns the user of a request that may change the user. @throws {LecternError} NOT_FOUND, CONFLICT, FORBIDDEN */
async function requireOther(db: Database, caller: ApiCaller, id: string): Promise<User> {
  const user = await findUser(db, { id, organizationId: caller.organization._id });
  if (user === null) throw new LecternError('NOT_FOUND', userNotFound);
  if (id === caller.userId) throw new LecternError('CONFLICT', ownAccountText);
  requireRightsOf(caller, user.role);
  return user;
}

export function presentInvitation(
  ctx: Context,
  { config }: Pick<UserDependencies, 'config'>,
  invited: Invited,
) {
  const { token, user } = invited;
  return {
    token,
    // Browsers send no fragment to servers, so no log contains the token.
    url: `${publicUrlOf(ctx, config)}/console/invitation#${token}`,
    expiresAt: (user.invitation?.expiresAt ?? new Date()).toISOString(),
  };
}

/** GET /api/users */
export const listUsersEndpoint = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/users',
    query: listQuery('users'),
    operationId: 'listUsers',
    summary: 'List users',
    description: 'The newest first. Follow `nextCursor` until it is null.',
    responses: {
      200: json('A page of users.', userPage, { one: { value: { users: [exampleUser], nextCursor: null } } }),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, query: { limit, cursor = null } }) => {
      const filter = { organizationId: caller.organization._id };
      const { entries, next } = await newestFirst(db.users, filter, { limit, after: cursor });
      const users = entries.map(presentListedUser);
      return { status: 200, body: { users, nextCursor: presentPosition(next) } };
    },
);

/** POST /api/users */
export const createUserEndpoint = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/users',
    audit: 'user.invite',
    idempotent: true,
    operationId: 'createUser',
    summary: 'Invite a user',
    description:
      `Creates a user without a password, and a link that sets one, once and within ${invitationDays} days. Lectern ` +
      'sends no email: send the link to the user. Callers can give a role only if they may do everything that it may do.',
    body: strictBody(newUserSchema, { author: { value: { email: exampleUser.email, role: 'author' } } }),
    responses: {
      201: json('The user, with the invitation.', invitedUser, { invited: { value: exampleInvited } }),
      403: tooMuch,
      409: taken,
    },
  },
  (deps: UserDependencies) =>
    async ({ ctx, caller, readBody, newId }) => {
      const { email, role } = await readBody();
      requireRightsOf(caller, role);
      const fields = { organizationId: caller.organization._id, email, role };
      const invited = await createInvitedUser(deps.db, deps.secrets.keyPepper, fields, {
        id: newId,
        by: caller.id,
      });
      auditedChange.set(ctx, { target: { type: 'user', id: newId }, details: { role } });
      const invitation = presentInvitation(ctx, deps, invited);
      return { status: 201, body: { ...presentListedUser(invited.user), invitation } };
    },
);

/** GET /api/users/{userId} */
export const getUser = defineEndpoint(
  {
    ...ofOne,
    method: 'get',
    operationId: 'getUser',
    summary: 'Read a user',
    responses: { 200: json('The user.', userBody, { active: { value: exampleUser } }), 404: notFound },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      const user = await findUser(db, { id: params.userId, organizationId: caller.organization._id });
      if (user === null) throw new LecternError('NOT_FOUND', userNotFound);
      return { status: 200, body: presentListedUser(user) };
    },
);

/** PATCH /api/users/{userId} */
export const changeUserEndpoint = defineEndpoint(
  {
    ...ofOne,
    method: 'patch',
    audit: 'user.change',
    operationId: 'changeUser',
    summary: 'Change a user',
    description:
      'Changes the given fields, with effect from the next request of the user. Another role or status ends the open ' +
      'invitations that the user got or made.',
    body: strictBody(changesSchema, { disabled: { value: { status: 'disabled' } } }),
    responses: {
      200: json('The user.', userBody, { active: { value: exampleUser } }),
      403: tooMuch,
      404: notFound,
      409: ownAccount,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ ctx, caller, params: { userId: id }, readBody }) => {
      const { role, status, twoStep } = await readBody();
      await requireOther(db, caller, id);
      if (role !== undefined) requireRightsOf(caller, role);
      const changes = { role, ...(status !== undefined && { isDisabled: status === 'disabled' }) };
      const changed = await changeUser(db, { _id: id, organizationId: caller.organization._id }, changes);
      if (changed === null) throw new LecternError('NOT_FOUND', userNotFound);
      if (twoStep === 'off') await disableTwoStep(db, { email: changed.email });
      auditedChange.set(ctx, {
        details: { ...(role && { role }), ...(status && { status }), ...(twoStep && { twoStep }) },
      });
      const { twoStep: kept } = changed;
      return { status: 200, body: presentListedUser({ ...changed, twoStep: twoStep ? null : kept }) };
    },
);

/** DELETE /api/users/{userId} */
export const deleteUserEndpoint = defineEndpoint(
  {
    ...ofOne,
    method: 'delete',
    audit: 'user.delete',
    operationId: 'deleteUser',
    summary: 'Delete a user',
    description: "Ends the user's sessions and invitations. What the user did stays, also in the audit log.",
    responses: { 204: empty('The user is deleted.'), 403: tooMuch, 404: notFound, 409: ownAccount },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params: { userId: id } }) => {
      await requireOther(db, caller, id);
      await deleteUser(db, { id, organizationId: caller.organization._id });
      return { status: 204 };
    },
);

/** POST /api/users/{userId}/invitation */
export const inviteUserEndpoint = defineEndpoint(
  {
    ...ofOne,
    method: 'post',
    path: '/api/users/:userId/invitation',
    audit: 'user.invite',
    idempotent: true,
    operationId: 'inviteUser',
    summary: 'Invite a user again',
    description:
      'Returns another link that sets a password once, also for a user who has forgotten theirs. An earlier link stops ' +
      'working; the present password and sessions stay until the link is used.',
    responses: {
      200: json('The invitation.', invitationBody, { invitation: { value: exampleInvitation } }),
      403: tooMuch,
      404: notFound,
      409: failure(
        'The user is disabled, or is the one who sends the request.',
        disabledText,
        ownAccountText,
      ),
    },
  },
  (deps: UserDependencies) =>
    async ({ ctx, caller, params: { userId: id }, newId }) => {
      await requireOther(deps.db, caller, id);
      const key = { id, organizationId: caller.organization._id };
      const invited = await inviteAgain(deps.db, deps.secrets.keyPepper, key, {
        id: newId,
        by: caller.id,
      });
      return { status: 200, body: presentInvitation(ctx, deps, invited) };
    },
);

/** In the order in which requests match them. */
export const userEndpoints = [
  inviteUserEndpoint,
  getUser,
  changeUserEndpoint,
  deleteUserEndpoint,
  createUserEndpoint,
  listUsersEndpoint,
] as const;
