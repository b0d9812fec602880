import { randomUUID } from 'node:crypto';
import { hexId } from './model.ts';
import type { User } from './model.ts';
import type { Platform } from './platform.ts';
import { rolesOf } from './vocabulary.ts';

export type UserDetails = Partial<Omit<User, 'name'>> & { role?: keyof typeof rolesOf };

/** Adds a user, by default a learner of all courses. */
export function addUser(platform: Platform, { role = 'learner', ...details }: UserDetails = {}): User {
  const { givenName = 'Learner', familyName = String(platform.users.size + 1) } = details;
  const user = {
    id: randomUUID(),
    loginHint: hexId(),
    anonymous: false,
    givenName,
    familyName,
    name: `${givenName} ${familyName}`,
    email: `${givenName}.${familyName}@school.example`.toLowerCase(),
    roles: rolesOf[role],
    courseIds: null,
    ...details,
  };
  platform.users.set(user.id, user);
  return user;
}

/** Adds two learners, a teacher, and a learner whose identity the platform hides. */
export function addSampleUsers(platform: Platform) {
  return {
    learner: addUser(platform, { givenName: 'Lena', familyName: 'Brandt' }),
    secondLearner: addUser(platform, { givenName: 'Amir', familyName: 'Haddad' }),
    teacher: addUser(platform, { givenName: 'Rosa', familyName: 'Okafor', role: 'instructor' }),
    anonymous: addUser(platform, { givenName: 'Anonymous', familyName: 'learner', anonymous: true }),
  };
}
