import { createHmac, randomUUID } from 'node:crypto';
import { UserSessions } from '../../api/accounts/user-sessions.ts';
import { createUser } from '../../shared/models/user.ts';
import type { User } from '../../shared/models/user.ts';
import type { Role } from '../../shared/accounts/permissions.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { hashPassword } from '../../shared/platform/passwords.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import type { Harness } from '../support/harness.ts';

export const testPassword = 'correct horse battery';

/**
 * A hash of the same password with 2^10 blocks: fast to check, and replaced at the first login.
 * Made with Python's hashlib.
 */
export const quickHash =
  '$scrypt$ln=10,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AsWvwMY/76m6UtetkFvlJIEPTCAm8Pu2vkYrRktx10s';

/** Hashing is slow, so all test users share one password. */
let hash: Promise<string> | undefined;

/** Creates a user, by default in an organization of its own. */
export async function buildUser(
  harness: Pick<Harness, 'db'>,
  overrides: { organization?: Organization; role?: Role; passwordHash?: string } = {},
): Promise<{ user: User; organization: Organization }> {
  const organization = overrides.organization ?? (await buildOrganization(harness)).organization;
  const { role = 'author' } = overrides;
  const user = await createUser(harness.db, {
    organizationId: role === 'operator' ? null : organization._id,
    email: `${randomUUID()}@example.com`,
    role,
    passwordHash: overrides.passwordHash ?? (await (hash ??= hashPassword(testPassword))),
  });
  return { user, organization };
}

/** Sends a login body, as it is or as JSON. */
export function postSession(
  address: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return ask(`${address}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export function logIn(address: string, { email }: Pick<User, 'email'>, headers = {}): Promise<Answer> {
  return postSession(address, { email, password: testPassword }, headers);
}

/** Returns the Cookie header that a browser would send after a response. */
export function cookieOf({ headers }: Pick<Answer, 'headers'>): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');
}

/** The header of a new session. */
export async function openSession(address: string, user: Pick<User, 'email'>): Promise<{ cookie: string }> {
  const answer = await logIn(address, user);
  if (answer.status !== 200) throw new Error(`Log-in answered ${answer.status}: ${answer.body.toString()}`);
  return { cookie: cookieOf(answer) };
}

/** Begins a session without a login, whose password hash takes most of a test's time. */
export async function beginSession(
  { config, servers, db }: Pick<Harness, 'config' | 'servers' | 'db'>,
  { user, organization = null }: { user: User; organization?: Organization | null },
): Promise<{ cookie: string }> {
  const redis = await connectRedis(servers.redisUrl);
  const sent: string[] = [];
  const sign = (text: string) =>
    createHmac('sha1', config.cookieSecret ?? '')
      .update(text)
      .digest('base64url');
  const cookies = {
    get: () => undefined,
    set: (name: string, value: string) =>
      sent.push(`${name}=${value}`, `${name}.sig=${sign(`${name}=${value}`)}`),
  };
  const ctx = { cookies } as unknown as Parameters<UserSessions['begin']>[0];
  await new UserSessions({ config, redis, db }).begin(ctx, { user, organization });
  redis.disconnect();
  return { cookie: sent.join('; ') };
}
