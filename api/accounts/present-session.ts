import type { User } from '../../shared/models/user.ts';
import type { OpenSession } from './user-sessions.ts';

/** Who is logged in, where, and until when. */
export function presentSession({ user, organization, expiresAt }: OpenSession) {
  const { _id, slug, name, plan } = organization;
  return { user: presentUser(user), organization: { id: _id, slug, name, plan }, expiresAt };
}

export function presentUser({ _id, email, role }: User) {
  return { id: _id, email, role };
}
