import { z } from 'zod';
import { newestFirst } from '../../shared/models/newest-first.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  changeUser,
  deleteUser,
  disableTwoStep,
  emailSchema,
  findUser,
  invitationDays,
} from '../../shared/models/user.ts';
import type { User } from '../../shared/models/user.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { listQuery, presentPosition } from '../http/pagination.ts';
import { empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { sessionAccess } from './access.ts';
import { createInvitedUser, disabledText, inviteAgain } from './invite.ts';
import { tooManyLogIns } from './log-in-throttle.ts';
import { confirmation, confirmationTexts, ownPasswordCheck } from './own-password.ts';
import type { ConfirmationDependencies } from './own-password.ts';
import {
  exampleInvitation,
  exampleInvitedOperator,
  exampleOperator,
  invitationBody,
  invitedOperator,
  operatorBody,
  operatorPage,
  presentOperator,
} from './present-user.ts';
import { changedStatus, changedTwoStep, presentInvitation, taken } from './users.endpoints.ts';
import type { UserDependencies } from './users.endpoints.ts';

/* The operators of the installation, for each other. */

const notFoundText = 'Operator not found';
const ownAccountText = 'Operators cannot change or invite themselves; another operator or `lectern user` can';

const common = {
  access: sessionAccess,
  scope: 'operator',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Operation',
} as const;
const ofOne = {
  ...common,
  path: '/api/operator/users/:userId',
  params: z.object({
    userId: z.guid('Invalid user ID format').toLowerCase().meta({ description: 'Id of the operator.' }),
  }),
} as const;
const notFound = failure('There is no such operator.', notFoundText);
const throttled = failure('Too many requests, or too many wrong tries in 15 minutes.', tooManyLogIns);
const ownAccount = failure('The operator is the one who sends the request.', ownAccountText);

/** Returns another operator. @throws {LecternError} NOT_FOUND, CONFLICT */
async function requireOther(db: Database, ownId: string, id: string): Promise<User> {
  const user = await findUser(db, { id, organizationId: null });
  if (user === null) throw new LecternError('NOT_FOUND', notFoundText);
  if (id === ownId) throw new LecternError('CONFLICT', ownAccountText);
  return user;
}

/** GET /api/operator/users */
export const listOperators = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/operator/users',
    query: listQuery('operators'),
    operationId: 'listOperators',
    summary: 'List operators',
    description: 'The newest first. Follow `nextCursor` until it is null.',
    responses: {
      200: json('A page of operators.', operatorPage, {
        one: { value: { users: [exampleOperator], nextCursor: null } },
      }),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ query: { limit, cursor = null } }) => {
      const { entries, next } = await newestFirst(
        db.users,
        { organizationId: null },
        { limit, after: cursor },
      );
      return {
        status: 200,
        body: { users: entries.map(presentOperator), nextCursor: presentPosition(next) },
      };
    },
);

/** POST /api/operator/users */
export const inviteOperator = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/operator/users',
    audit: 'user.invite',
    idempotent: true,
    operationId: 'createOperator',
    summary: 'Invite an operator',
    description:
      `Creates an operator without a password, and a link that sets one, once and within ${invitationDays} days. ` +
      'Lectern sends no email: send the link yourself.',
    body: strictBody(
      z.strictObject(
        { email: emailSchema.meta({ description: 'Unique in the whole installation.' }) },
        { error: objectFault },
      ),
      { one: { value: { email: exampleOperator.email } } },
    ),
    responses: {
      201: json('The operator, with the invitation.', invitedOperator, {
        invited: { value: exampleInvitedOperator },
      }),
      409: taken,
    },
  },
  (deps: UserDependencies) =>
    async ({ ctx, caller: { user: own }, readBody, newId }) => {
      const { email } = await readBody();
      const fields = { organizationId: null, email, role: 'operator' as const };
      const request = { id: newId, by: own._id };
      const invited = await createInvitedUser(deps.db, deps.secrets.keyPepper, fields, request);
      auditedChange.set(ctx, { target: { type: 'user', id: newId }, details: { role: 'operator' } });
      const invitation = presentInvitation(ctx, deps, invited);
      return { status: 201, body: { ...presentOperator(invited.user), invitation } };
    },
);

/** PATCH /api/operator/users/{userId} */
export const changeOperator = defineEndpoint(
  {
    ...ofOne,
    method: 'patch',
    audit: 'user.change',
    operationId: 'changeOperator',
    summary: 'Change an operator',
    description:
      'Changes the given fields, with effect from the next request of the operator. Another status ends the open ' +
      'invitations that the operator got or made.',
    body: strictBody(
      z.strictObject(
        {
          status: changedStatus,
          twoStep: changedTwoStep.meta({
            description:
              'Turns off two-step login, for an operator who has lost the device and the recovery codes. Needs `password`.',
          }),
          password: confirmation.password.optional(),
          code: confirmation.code,
        },
        { error: objectFault },
      ),
      { disabled: { value: { status: 'disabled' } } },
      [...confirmationTexts],
    ),
    responses: {
      200: json('The operator.', operatorBody, { active: { value: exampleOperator } }),
      404: notFound,
      409: ownAccount,
      429: throttled,
    },
  },
  (deps: ConfirmationDependencies) => {
    const { db } = deps;
    const confirm = ownPasswordCheck(deps);
    return async ({ ctx, caller: { user: own }, params: { userId: id }, readBody }) => {
      const { status, twoStep, ...given } = await readBody();
      await requireOther(db, own._id, id);
      if (twoStep !== undefined) await confirm(ctx, own, given);
      const key = { _id: id, organizationId: null };
      if (status !== undefined) await changeUser(db, key, { isDisabled: status === 'disabled' });
      if (twoStep !== undefined) await disableTwoStep(db, key);
      auditedChange.set(ctx, { details: { ...(status && { status }), ...(twoStep && { twoStep }) } });
      return { status: 200, body: presentOperator(await requireOther(db, own._id, id)) };
    };
  },
);

/** DELETE /api/operator/users/{userId} */
export const deleteOperator = defineEndpoint(
  {
    ...ofOne,
    method: 'delete',
    audit: 'user.delete',
    operationId: 'deleteOperator',
    summary: 'Delete an operator',
    description:
      "Ends the operator's sessions and invitations. What the operator did stays, also in the audit log.",
    responses: { 204: empty('The operator is deleted.'), 404: notFound, 409: ownAccount },
  },
  ({ db }: { db: Database }) =>
    async ({ caller: { user: own }, params: { userId: id } }) => {
      await requireOther(db, own._id, id);
      await deleteUser(db, { id, organizationId: null });
      return { status: 204 };
    },
);

/** POST /api/operator/users/{userId}/invitation */
export const inviteOperatorAgain = defineEndpoint(
  {
    ...ofOne,
    method: 'post',
    path: '/api/operator/users/:userId/invitation',
    audit: 'user.invite',
    idempotent: true,
    operationId: 'inviteOperator',
    summary: 'Invite an operator again',
    description:
      'Returns another link that sets a password once, also for an operator who has forgotten theirs. An earlier link ' +
      'stops working; the present password and sessions stay until the link is used.',
    body: strictBody(
      z.strictObject(confirmation, { error: objectFault }),
      { confirmed: { value: { password: example.password } } },
      [...confirmationTexts],
    ),
    responses: {
      200: json('The invitation.', invitationBody, { invitation: { value: exampleInvitation } }),
      404: notFound,
      409: failure(
        'The operator is disabled, or is the one who sends the request.',
        disabledText,
        ownAccountText,
      ),
      429: throttled,
    },
  },
  (deps: UserDependencies & ConfirmationDependencies) => {
    const confirm = ownPasswordCheck(deps);
    return async ({ ctx, caller: { user: own }, params: { userId: id }, readBody, newId }) => {
      const given = await readBody();
      await requireOther(deps.db, own._id, id);
      await confirm(ctx, own, given);
      const request = { id: newId, by: own._id };
      const invited = await inviteAgain(
        deps.db,
        deps.secrets.keyPepper,
        { id, organizationId: null },
        request,
      );
      return { status: 200, body: presentInvitation(ctx, deps, invited) };
    };
  },
);

/** In the order in which requests match them. */
export const operatorUserEndpoints = [
  inviteOperatorAgain,
  changeOperator,
  deleteOperator,
  inviteOperator,
  listOperators,
] as const;
