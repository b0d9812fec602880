import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  createUser,
  disableUser,
  emailSchema,
  findAccount,
  listUsers,
  renewPasswordHash,
  setPassword,
} from '../../shared/models/user.ts';
import type { User } from '../../shared/models/user.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();

async function addUser(email = `${randomUUID()}@example.com`): Promise<User> {
  const { organization } = await buildOrganization(harness);
  const fields = { organizationId: organization._id, role: 'author', passwordHash: 'a hash' } as const;
  return createUser(harness.db, { ...fields, email });
}

test('an email address belongs to one user in the whole installation', async () => {
  const { email } = await addUser();
  await expect(addUser(email)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: `A user ${email} exists.`,
  });
});

test('exactly one of two concurrent users gets an email address', async () => {
  const email = `${randomUUID()}@example.com`;
  const results = await Promise.allSettled([addUser(email), addUser(email)]);
  expect(results.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected']);
});

test.each<[string, string | undefined]>([
  [' Ada@Example.COM ', 'ada@example.com'],
  ['ada+test@mail.example.com', 'ada+test@mail.example.com'],
  ['ada', undefined],
  ['ada@', undefined],
  ['ada@example.com\u0000', undefined],
  ['\ud800@example.com', undefined],
  [`${'a'.repeat(250)}@example.com`, undefined],
])('%j is stored as %j', (text, stored) => {
  expect(emailSchema.safeParse(text).data).toBe(stored);
});

test('a user is found with the organization, by id or email address, unless either is deleted', async () => {
  const user = await addUser();
  const byId = await findAccount(harness.db, { _id: user._id });
  expect(byId?.user).toStrictEqual(user);
  expect(byId?.organization._id).toBe(user.organizationId);
  expect(await findAccount(harness.db, { email: user.email })).toStrictEqual(byId);
  expect(await findAccount(harness.db, { email: 'unknown@example.com' })).toBeNull();
  await harness.db.organizations.deleteOne({ _id: user.organizationId });
  expect(await findAccount(harness.db, { _id: user._id })).toBeNull();
});

test('a new password changes its time; a new hash of the same one does not', async () => {
  const user = await addUser();
  await renewPasswordHash(harness.db, user, 'a better hash');
  const renewed = (await findAccount(harness.db, { _id: user._id }))?.user;
  expect(renewed).toStrictEqual({ ...user, passwordHash: 'a better hash' });

  const changed = await setPassword(harness.db, user.email, 'another hash');
  expect(Number(changed?.passwordChangedAt)).toBeGreaterThan(Number(user.passwordChangedAt));
  await renewPasswordHash(harness.db, user, 'late');
  expect((await findAccount(harness.db, { _id: user._id }))?.user).toStrictEqual(changed);
  expect(await setPassword(harness.db, 'unknown@example.com', 'a hash')).toBeNull();
});

test('a disabled user keeps the time of the first disabling', async () => {
  const { email } = await addUser();
  const disabled = await disableUser(harness.db, email);
  expect(disabled?.disabledAt).toBeInstanceOf(Date);
  expect(await disableUser(harness.db, email)).toStrictEqual(disabled);
  expect(await disableUser(harness.db, 'unknown@example.com')).toBeNull();
});

test('the users of an organization, and only they, are listed by email address', async () => {
  const user = await addUser();
  await addUser();
  const { organizationId } = user;
  const first = { organizationId, role: 'admin', passwordHash: 'a hash', email: `!${user.email}` } as const;
  await createUser(harness.db, first);
  const listed = await listUsers(harness.db, organizationId);
  expect(listed.map(({ email }) => email)).toStrictEqual([first.email, user.email]);
});
