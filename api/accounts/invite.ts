import { hkdfSync } from 'node:crypto';
import { createUser, findUser, inviteUser } from '../../shared/models/user.ts';
import type { User, UserDb } from '../../shared/models/user.ts';
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
  organizationId: string;
  email: string;
  role: Role;
}

/**
 * Creates a user without a password, and an invitation.
 *
 * @param id the user's id. An earlier run of the request may have created the user already.
 * @throws {LecternError} CONFLICT if any user has the email address.
 */
export async function createInvitedUser(
  db: UserDb,
  pepper: string,
  { organizationId, email, role }: NewUser,
  id: string,
): Promise<Invited> {
  const fields = { _id: id, organizationId, email, role, passwordHash: null };
  const existing = await findUser(db, { id, organizationId });
  if (existing === null) await createUser(db, fields);
  return inviteAgain(db, pepper, { id, organizationId }, id);
}

/**
 * Gives a user another invitation, with which a forgotten password is replaced as well.
 *
 * @param requestId the token follows from it, so a repeated request gets the same one
 * @throws {LecternError} NOT_FOUND; CONFLICT if the user is disabled.
 */
export async function inviteAgain(
  db: UserDb,
  pepper: string,
  key: { id: string; organizationId: string },
  requestId: string,
): Promise<Invited> {
  const token = Buffer.from(hkdfSync('sha256', pepper, requestId, 'lectern invitation', 32)).toString(
    'base64url',
  );
  const user = await inviteUser(db, key, token);
  if (user !== null) return { user, token };
  if ((await findUser(db, key)) === null) throw new LecternError('NOT_FOUND', userNotFound);
  throw new LecternError('CONFLICT', disabledText);
}
