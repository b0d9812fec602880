import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createUser, emailSchema, listUsers } from '../../shared/models/user.ts';
import type { User } from '../../shared/models/user.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();

async function addUser(email = `${randomUUID()}@example.com`): Promise<User> {
  const { organization } = await buildOrganization(harness);
  const fields = { organizationId: organization._id, role: 'author', passwordHash: 'a hash' } as const;
  return createUser(harness.db, { ...fields, email });
}

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

test('the users of an organization, and only they, are listed by email address', async () => {
  const user = await addUser();
  await addUser();
  const { organizationId } = user;
  const first = { organizationId, role: 'admin', passwordHash: 'a hash', email: `!${user.email}` } as const;
  await createUser(harness.db, first);
  const listed = await listUsers(harness.db, organizationId);
  expect(listed.map(({ email }) => email)).toStrictEqual([first.email, user.email]);
});
