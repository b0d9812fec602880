import { z } from 'zod';
import { permissions, roles } from '../../shared/accounts/permissions.ts';
import { plans } from '../../shared/models/organization.ts';
import type { User } from '../../shared/models/user.ts';
import { time, uuid } from '../http/responses.ts';
import { permissionsOf, twoStepOf } from './two-step.ts';
import type { TwoStepConfig } from './two-step.ts';
import type { OpenSession } from './user-sessions.ts';

export const userSessionBody = z
  .strictObject({
    user: z.strictObject({ id: uuid, email: z.email(), role: z.enum(roles) }),
    organization: z
      .strictObject({ id: uuid, slug: z.string(), name: z.string(), plan: z.enum(plans) })
      .nullable()
      .meta({ description: 'Null for operators.' }),
    permissions: z.array(z.enum(permissions)).meta({
      description:
        'What the user may do: the scopes of API credentials that the role has, or `operator`. Programs must expect further ones.',
    }),
    twoStep: z.enum(['on', 'off', 'required']).meta({
      description:
        'Whether logins need a code. `required`: the user has no permissions until two-step login is set up.',
    }),
    expiresAt: time.meta({ description: 'When the session ends.' }),
  })
  .meta({ id: 'UserSession' });

export function presentSession(
  { user, organization, expiresAt }: OpenSession,
  config: TwoStepConfig,
): z.input<typeof userSessionBody> {
  return {
    user: presentUser(user),
    organization: organization && {
      id: organization._id,
      ...{ slug: organization.slug, name: organization.name, plan: organization.plan },
    },
    permissions: [...permissionsOf(user, config)],
    twoStep: twoStepOf(user, config),
    expiresAt: expiresAt.toISOString(),
  };
}

export function presentUser({ _id, email, role }: User) {
  return { id: _id, email, role };
}
