import { hkdfSync } from 'node:crypto';
import { createUser, findUser, inviteUser } from '../../shared/models/user.ts';
import type { User, UserDb, UserKey } from '../../shared/models/user.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Role } from '../../shared/accounts/permissions.ts';

/** A user with the token of the invitation, which Lectern does not store. */
export interface Invited {
  user: User;
  token: string;
}

export const userNotFound = 'User not found';
export const disabledText = 'The user is disabled: enable the user before you send an invitation';

interface NewUser {
  /** Null for operators. */
  organizationId: string | null;
  email: string;
  role: Role;
}

/** The request for an invitation. */
interface InvitationRequest {
  /** The token follows from it, so a repeated request gets the same one, unless it was used. */
  id: string;
  /** The id of the user, or the public key, that sends it. */
  by: string;
}

/**
 * Creates a user without a password, and an invitation.
 *
 * @param request its id is the user's id. An earlier run of the request may have created the user already.
 * @throws {LecternError} CONFLICT if any user has the email address.
 */
export async function createInvitedUser(
  db: UserDb,
  pepper: string,
  { organizationId, email, role }: NewUser,
  request: InvitationRequest,
): Promise<Invited> {
  const { id } = request;
  const fields = { _id: id, organizationId, email, role, passwordHash: null };
  const existing = await findUser(db, { id, organizationId });
  if (existing === null) await createUser(db, fields);
  return inviteAgain(db, pepper, { id, organizationId }, request);
}

/**
 * Gives a user another invitation, with which a forgotten password is replaced as well.
 *
 * @throws {LecternError} NOT_FOUND; CONFLICT if the user is disabled.
 */
export async function inviteAgain(
  db: UserDb,
  pepper: string,
  key: UserKey,
  { id, by }: InvitationRequest,
): Promise<Invited> {
  const found = await findUser(db, key);
  if (found === null) throw new LecternError('NOT_FOUND', userNotFound);
  // The first password and each later one change it: a repeated request does not make a used link valid again.
  const salt = found.passwordHash === null ? id : `${id} ${found.sessionsEndedAt.toISOString()}`;
  const bytes = hkdfSync('sha256', pepper, salt, 'lectern invitation', 32);
  const token = Buffer.from(bytes).toString('base64url');
  const user = await inviteUser(db, key, { token, by });
  if (user !== null) return { user, token };
  throw new LecternError('CONFLICT', disabledText);
}
