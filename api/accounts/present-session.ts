import { z } from 'zod';
import { plans } from '../../shared/models/organization.ts';
import { roles } from '../../shared/models/user.ts';
import type { User } from '../../shared/models/user.ts';
import { time, uuid } from '../http/responses.ts';
import type { OpenSession } from './user-sessions.ts';

export const userSessionBody = z
  .strictObject({
    user: z.strictObject({ id: uuid, email: z.email(), role: z.enum(roles) }),
    organization: z.strictObject({ id: uuid, slug: z.string(), name: z.string(), plan: z.enum(plans) }),
    expiresAt: time.meta({ description: 'When the session ends.' }),
  })
  .meta({ id: 'UserSession' });

export function presentSession({
  user,
  organization,
  expiresAt,
}: OpenSession): z.input<typeof userSessionBody> {
  const { _id, slug, name, plan } = organization;
  return {
    user: presentUser(user),
    organization: { id: _id, slug, name, plan },
    expiresAt: expiresAt.toISOString(),
  };
}

export function presentUser({ _id, email, role }: User) {
  return { id: _id, email, role };
}
