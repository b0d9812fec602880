import { createHmac, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import {
  enableTwoStep,
  replaceRecoveryCodes,
  takeCodePeriod,
  takeRecoveryCode,
} from '../../shared/models/user.ts';
import type { User, UserDb } from '../../shared/models/user.ts';
import { rolePermissions } from '../../shared/accounts/permissions.ts';
import type { Permission, Role } from '../../shared/accounts/permissions.ts';
import type { Config } from '../../shared/platform/config.ts';
import { seal, unseal } from '../../shared/platform/seal.ts';

/*
 * Two-step login: codes of an authenticator app (TOTP, RFC 6238), and recovery codes. Each code works once.
 */

const periodSeconds = 30;

/** Codes of this many periods before and after are accepted, because clocks differ. */
const acceptedPeriods = 1;

const recoveryCodes = { count: 10, characters: 10 };

/** Without characters that look alike. */
const recoveryAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** A secret that a user enters into an authenticator app. */
export interface TwoStepSetup {
  /** In Base32, for typing. */
  secret: string;
  /** `otpauth://…`, for a QR code. */
  uri: string;
}

/** Returns a new secret, which {@link enableWithCode} stores. */
export function newTwoStepSetup({ email }: Pick<User, 'email'>): TwoStepSetup {
  const secret = new Secret({ size: 20 }).base32;
  return { secret, uri: totpOf(secret, email).toString() };
}

function totpOf(secret: string, label = ''): TOTP {
  return new TOTP({
    issuer: 'Lectern',
    label,
    secret: Secret.fromBase32(secret),
    period: periodSeconds,
  });
}

/** Returns the period of a code; null if it is not valid now. */
function periodOf(secret: string, code: string): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = totpOf(secret).validate({ token: code, window: acceptedPeriods });
  return delta === null ? null : Math.floor(Date.now() / 1000 / periodSeconds) + delta;
}

interface TwoStepDependencies {
  db: UserDb;
  secrets: { keyPepper: string };
}

/**
 * Turns on two-step login, with a code that shows that the app has the secret.
 *
 * @returns the user with the recovery codes, which Lectern does not store; null if the code is wrong.
 */
export async function enableWithCode(
  { db, secrets: { keyPepper } }: TwoStepDependencies,
  user: User,
  { secret, code }: { secret: string; code: string },
): Promise<{ user: User; recoveryCodes: string[] } | null> {
  const period = periodOf(secret, code);
  if (period === null) return null;
  const codes = newRecoveryCodes();
  const enabled = await enableTwoStep(db, user, {
    secret: seal(secret, scopeOf(user), keyPepper),
    lastPeriod: period,
    recoveryDigests: codes.map((one) => digestOf(user, one, keyPepper)),
  });
  return { user: enabled, recoveryCodes: codes };
}

/** Returns whether a code of the app, or a recovery code, is valid and was not used before; it is then used. */
export async function takeCode(
  { db, secrets: { keyPepper } }: TwoStepDependencies,
  user: User,
  given: string,
): Promise<boolean> {
  if (user.twoStep === null) return false;
  const code = given.replaceAll(/[\s-]/g, '').toUpperCase();
  const period = periodOf(unseal(user.twoStep.secret, scopeOf(user), keyPepper), code);
  if (period !== null) return takeCodePeriod(db, user, period);
  return takeRecoveryCode(db, user, digestOf(user, code, keyPepper));
}

/** Replaces the recovery codes; the earlier ones stop working. */
export async function renewRecoveryCodes(
  { db, secrets: { keyPepper } }: TwoStepDependencies,
  user: User,
): Promise<string[]> {
  const codes = newRecoveryCodes();
  await replaceRecoveryCodes(
    db,
    user,
    codes.map((one) => digestOf(user, one, keyPepper)),
  );
  return codes;
}

function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodes.count }, () =>
    Array.from({ length: recoveryCodes.characters }, () =>
      recoveryAlphabet.charAt(randomInt(recoveryAlphabet.length)),
    ).join(''),
  );
}

/** A code has 50 random bits, so a keyed hash is as safe as a slow one. */
function digestOf({ _id }: Pick<User, '_id'>, code: string, pepper: string): string {
  return createHmac('sha256', pepper)
    .update(JSON.stringify(['recovery code', _id, code]))
    .digest('hex');
}

function scopeOf({ _id }: Pick<User, '_id'>) {
  return { purpose: 'lectern two-step login', id: _id };
}

/** Which roles TWO_STEP_LOGIN means. */
const rolesWithTwoStep: Record<Config['session']['twoStep'], readonly Role[]> = {
  optional: [],
  operators: ['operator'],
  admins: ['operator', 'admin'],
};

export type TwoStepConfig = Pick<Config, 'session'>;

/** Returns whether a user's logins need a code; `required` if the user has to set it up first. */
export function twoStepOf({ role, twoStep }: User, { session }: TwoStepConfig): 'on' | 'off' | 'required' {
  if (twoStep !== null) return 'on';
  return rolesWithTwoStep[session.twoStep].includes(role) ? 'required' : 'off';
}

/** Returns what a user may do: nothing before two-step login is set up, if the role requires it. */
export function permissionsOf(user: User, config: TwoStepConfig): readonly Permission[] {
  return twoStepOf(user, config) === 'required' ? [] : rolePermissions[user.role];
}
