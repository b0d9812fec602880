import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { acceptInvitation, findInvitation, setPassword } from '../../shared/models/user.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { assertValidPassword, hashPassword, passwordMatches } from '../../shared/platform/passwords.ts';
import type { AuditDependencies } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { crossSiteWrite } from '../http/middleware/csrf.ts';
import { empty, failure, json, time } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { sessionAccess, visitorAccess } from './access.ts';
import { throttledCheck, tooManyLogIns } from './log-in-throttle.ts';
import { exampleInvitation } from './present-user.ts';
import { setAudited } from './session.endpoints.ts';
import { UserSessions } from './user-sessions.ts';
import type { SessionDependencies } from './user-sessions.ts';

const common = { errors: apiErrors(), invalid: 'INVALID_CONTENT', tag: 'Users' } as const;

const token = z
  .string('token is required')
  .max(100, 'token is too long')
  .meta({ description: 'Of the invitation: its link has it after the `#`.' });
const password = (name: string) => z.string(`${name} is required`).max(1000, `${name} is too long`);
const passwordRules = [
  'A password has 10 to 200 characters, and no control characters.',
  'This password is among the most frequent ones in data breaches. Choose another one.',
];
const invalidLinkText = 'This invitation is not valid any more';
const invalidLink = failure('The invitation was used, replaced or has expired.', invalidLinkText);

/** POST /api/invitation */
export const readInvitation = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/invitation',
    access: visitorAccess,
    // It changes nothing.
    audit: null,
    operationId: 'readInvitation',
    summary: 'Read an invitation',
    description: 'Returns the user of an invitation. The token is in the body, because logs contain URLs.',
    body: strictBody(z.strictObject({ token }, { error: objectFault }), {
      token: { value: { token: exampleInvitation.token } },
    }),
    responses: {
      200: json(
        'The invitation.',
        z.strictObject({ email: z.email(), organization: z.string().nullable(), expiresAt: time }),
        {
          valid: {
            value: {
              email: example.userSession.user.email,
              organization: example.userSession.organization.name,
              expiresAt: exampleInvitation.expiresAt,
            },
          },
        },
      ),
      403: crossSiteWrite,
      404: invalidLink,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ readBody }) => {
      const account = await findInvitation(db, (await readBody()).token);
      const expiresAt = account?.user.invitation?.expiresAt;
      if (account === null || expiresAt === undefined) throw new LecternError('NOT_FOUND', invalidLinkText);
      const organization = account.organization?.name ?? null;
      return {
        status: 200,
        body: { email: account.user.email, organization, expiresAt: expiresAt.toISOString() },
      };
    },
);

/** POST /api/invitation/accept */
export const acceptInvitationEndpoint = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/invitation/accept',
    access: visitorAccess,
    audit: 'invitation.accept',
    operationId: 'acceptInvitation',
    summary: 'Set a password with an invitation',
    description: "Ends the invitation and the user's sessions. The user then logs in.",
    body: strictBody(
      z.strictObject({ token, password: password('password') }, { error: objectFault }),
      { accepted: { value: { token: exampleInvitation.token, password: example.password } } },
      passwordRules,
    ),
    responses: { 204: empty('The password is set.'), 403: crossSiteWrite, 404: invalidLink },
  },
  ({ db }: { db: Database }) =>
    async ({ ctx, readBody }) => {
      const given = await readBody();
      const account = await findInvitation(db, given.token);
      if (account === null) throw new LecternError('NOT_FOUND', invalidLinkText);
      assertValidPassword(given.password);
      const user = await acceptInvitation(db, given.token, await hashPassword(given.password));
      if (user === null) throw new LecternError('NOT_FOUND', invalidLinkText);
      setAudited(ctx, { ...account, user }, undefined, { invitedBy: account.user.invitation?.by ?? '' });
      return { status: 204 };
    },
);

const wrongPassword = 'The current password is wrong';

/** PUT /api/session/password */
export const changePassword = defineEndpoint(
  {
    ...common,
    method: 'put',
    path: '/api/session/password',
    access: sessionAccess,
    scope: null,
    audit: 'user.set_password',
    operationId: 'changePassword',
    summary: 'Change the own password',
    description: 'Ends all other sessions of the user. This one continues with another cookie.',
    body: strictBody(
      z.strictObject(
        { currentPassword: password('currentPassword'), newPassword: password('newPassword') },
        { error: objectFault },
      ),
      { changed: { value: { currentPassword: example.password, newPassword: 'another good password' } } },
      [...passwordRules, wrongPassword],
    ),
    responses: {
      204: empty('The password is changed.'),
      429: failure('Too many requests, or too many wrong passwords in 15 minutes.', tooManyLogIns),
    },
  },
  (deps: SessionDependencies & AuditDependencies) => {
    const sessions = new UserSessions(deps);
    const check = throttledCheck(deps, 'password', wrongPassword);
    return async ({ ctx, caller: { user, organization }, readBody }) => {
      const { currentPassword, newPassword } = await readBody();
      assertValidPassword(newPassword);
      await check(ctx, user, () => passwordMatches(currentPassword, user.passwordHash, ctx.state.signal));
      const changed = await setPassword(deps.db, { _id: user._id }, await hashPassword(newPassword));
      if (changed === null) throw new Error('the user of a session was deleted');
      setAudited(ctx, { user: changed, organization });
      await sessions.begin(ctx, { user: changed, organization });
      return { status: 204 };
    };
  },
);

export const passwordEndpoints = [acceptInvitationEndpoint, readInvitation, changePassword] as const;
