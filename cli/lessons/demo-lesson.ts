import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../shared/platform/config.ts';
import type { Database } from '../../shared/models/database.ts';
import { findLesson } from '../../shared/models/lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { listLessons } from '../../shared/models/lesson.ts';
import { createOrganization, findOrganizationBySlug } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { createUser, setPassword } from '../../shared/models/user.ts';
import { importPackage } from '../../shared/packages/import.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { hashPassword } from '../../shared/platform/passwords.ts';
import { publishVersion } from '../../shared/publishing/publishing.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import { findLessonVersions, latestPublished } from './find-lesson.ts';

const organizationSlug = 'demo';
const packageFolder = join(packageRoot, 'demo', 'lesson');

/** Returns the organization that owns the demo lesson; creates it on the first run. */
export async function demoOrganization(db: Database): Promise<Organization> {
  const existing = await findOrganizationBySlug(db, organizationSlug);
  return existing ?? createOrganization(db, { slug: organizationSlug, name: 'Demo Academy', plan: 'edtech' });
}

/**
 * Returns an account for the console. Each run sets another password, because Lectern keeps only its hash.
 */
export async function demoAccount(
  db: Database,
  { _id: organizationId }: Organization,
): Promise<{ email: string; password: string }> {
  const email = 'admin@demo.example';
  const password = randomBytes(9).toString('base64url');
  const passwordHash = await hashPassword(password);
  const known = await setPassword(db, { email }, passwordHash);
  if (known === null) await createUser(db, { organizationId, email, role: 'admin', passwordHash });
  return { email, password };
}

/** Returns the published demo lesson; imports it unless an earlier run did. */
export async function demoVersion(
  db: Database,
  config: Config,
  organization: Organization,
  signal: AbortSignal,
): Promise<LessonVersion> {
  const { lesson } = JSON.parse(await readFile(join(packageFolder, 'lesson.json'), 'utf8')) as {
    lesson: { id: string; slug: string };
  };
  const lessons = await listLessons(db, organization._id);
  const existing = lessons.find(({ slug }) => slug === lesson.slug);
  const published =
    existing === undefined ? null : latestPublished(await findLessonVersions(db, existing._id));
  if (published !== null) return published;

  const store = await createStore(config, noLastUses);
  const owner = (await findLesson(db, lesson.id))?.organizationId ?? organization._id;
  const imported = await importPackage({ db, store, config }, organization, packageFolder, {
    // The lesson id may already belong to a user's own organization.
    asNew: owner !== organization._id,
    signal,
  });
  return publishVersion(db, store, imported.version._id, { force: false });
}
