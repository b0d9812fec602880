import { z } from 'zod';
import { organizationRoles } from '../../shared/accounts/permissions.ts';
import type { OrganizationRole } from '../../shared/accounts/permissions.ts';
import type { User } from '../../shared/models/user.ts';
import { nextCursorField } from '../http/pagination.ts';
import { time, uuid } from '../http/responses.ts';

export const userBody = z
  .strictObject({
    id: uuid,
    email: z.email(),
    role: z.enum(organizationRoles),
    status: z.enum(['invited', 'active', 'disabled']).meta({
      description: '`invited` until the first password is set.',
    }),
    twoStep: z.boolean().meta({ description: 'Whether logins need a code of an authenticator app.' }),
    createdAt: time,
    lastLogInAt: time.nullable(),
    invitationExpiresAt: time.nullable().meta({ description: 'Until when an open invitation is valid.' }),
  })
  .meta({ id: 'User' });

export const userPage = z.strictObject({ users: z.array(userBody), nextCursor: nextCursorField });

export const invitationBody = z
  .strictObject({
    token: z.string().meta({ description: 'For `POST /api/invitation/accept`. It is shown only once.' }),
    url: z.url().meta({ description: 'The page that sets the password, for the user alone.' }),
    expiresAt: time,
  })
  .meta({ id: 'UserInvitation' });

export const invitedUser = userBody.extend({ invitation: invitationBody }).meta({ id: 'InvitedUser' });

export function presentListedUser(user: User): z.input<typeof userBody> {
  const { _id, email, role, passwordHash, disabledAt, createdAt, lastLogInAt, invitation, twoStep } = user;
  const state = passwordHash === null ? 'invited' : 'active';
  return {
    ...{ id: _id, email, role: role as OrganizationRole },
    status: disabledAt === null ? state : 'disabled',
    twoStep: twoStep !== null,
    createdAt: createdAt.toISOString(),
    lastLogInAt: lastLogInAt?.toISOString() ?? null,
    invitationExpiresAt: invitation?.expiresAt.toISOString() ?? null,
  };
}

export const exampleUser = {
  id: '2f1e6a94-7d1c-4c0a-8a6e-5b3d9c2f7e10',
  email: 'ada@acme.example',
  role: 'author',
  status: 'active',
  twoStep: false,
  createdAt: '2026-11-02T08:20:11.000Z',
  lastLogInAt: '2026-11-21T09:12:04.180Z',
  invitationExpiresAt: null,
} satisfies z.input<typeof userBody>;

export const operatorBody = userBody.omit({ role: true }).meta({ id: 'Operator' });

export const operatorPage = z.strictObject({ users: z.array(operatorBody), nextCursor: nextCursorField });

export const invitedOperator = operatorBody
  .extend({ invitation: invitationBody })
  .meta({ id: 'InvitedOperator' });

export function presentOperator(user: User): z.input<typeof operatorBody> {
  const { role: _role, ...operator } = presentListedUser(user);
  return operator;
}

const exampleToken = 'rX0eZ1jUO4uVQWvXj3sWl1gkYw8ZVhmmr2P4sJ0mTzE';
export const exampleInvitation = {
  token: exampleToken,
  url: `https://lectern.example/console/invitation#${exampleToken}`,
  expiresAt: '2026-11-28T09:12:04.180Z',
};
export const exampleInvited = {
  ...exampleUser,
  status: 'invited',
  lastLogInAt: null,
  invitationExpiresAt: exampleInvitation.expiresAt,
  invitation: exampleInvitation,
} satisfies z.input<typeof invitedUser>;

const { role: _role, ...withoutRole } = exampleUser;
export const exampleOperator = { ...withoutRole, email: 'ops@lectern.example' } satisfies z.input<
  typeof operatorBody
>;
export const exampleInvitedOperator = {
  ...exampleOperator,
  status: 'invited',
  lastLogInAt: null,
  invitationExpiresAt: exampleInvitation.expiresAt,
  invitation: exampleInvitation,
} satisfies z.input<typeof invitedOperator>;
