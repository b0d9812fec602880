import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { markLessonDeleted } from '../../shared/models/lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { User } from '../../shared/models/user.ts';
import { unpublish } from '../../shared/publishing/publishing.ts';
import { buildUser, openSession } from '../accounts/users.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { useApi } from '../support/use.ts';

const api = useApi();
let user: User;
let session: { cookie: string };
beforeAll(async () => {
  ({ user } = await buildUser(api, { organization: api.organization }));
  session = await openSession(api.url, user);
});

/** Creates a version of a new lesson; one without sections cannot be played. */
async function addVersion({
  publish = true,
  sections,
  organization = api.organization,
}: {
  publish?: boolean;
  sections?: [];
  organization?: typeof api.organization;
} = {}): Promise<LessonVersion> {
  const { path } = await buildPackage(sections && { sections });
  return buildVersion(api, organization, path, { publish });
}

const load = (lessonId: string, query = '', sent: Record<string, string> = session) =>
  ask(`${api.url}/api/lessons/${lessonId}/player-data${query}`, { headers: sent });

describe('a user', () => {
  test("gets the published version as a learner does, with the user's id, email address and role as attributes", async () => {
    const { lessonId } = await addVersion();
    const answer = await load(lessonId);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(jsonOf(answer)).toStrictEqual({
      lesson: {
        lesson: {
          id: lessonId,
          title: 'A lesson',
          status: 'published',
          variable_definitions: [],
          widget_settings: { overrides: {} },
        },
        sections: [expect.objectContaining({ title: 'A section', order_index: 0 })],
        totalSteps: 1,
        totalSections: 1,
        attributions: [],
      },
      userAttributes: { userId: user._id, email: user.email, role: 'author' },
      playability: { valid: true, errors: [] },
    });
  });

  test('may request metadata, and skip the playability check', async () => {
    const { lessonId } = await addVersion();
    const data = jsonOf(await load(lessonId, '?include_metadata=true&validate_playability=false'));
    const totals = { totalSections: 1, totalSteps: 1, estimatedDuration: 5 };
    expect(data).toMatchObject({ metadata: { title: 'A lesson', status: 'published', ...totals } });
    expect(data).not.toHaveProperty('playability');
  });

  test('may request any version of the organization, including drafts and unpublished ones', async () => {
    const statusOf = async (lessonId: string, versionId: string) =>
      jsonOf(await load(lessonId, `?versionId=${versionId}`));
    const draft = await addVersion({ publish: false });
    expect(await statusOf(draft.lessonId, draft._id)).toMatchObject({
      lesson: { lesson: { id: draft.lessonId, status: 'draft' } },
    });
    const former = await addVersion();
    await unpublish(api.db, former.lessonId);
    expect(await statusOf(former.lessonId.toUpperCase(), former._id.toUpperCase())).toMatchObject({
      lesson: { lesson: { id: former.lessonId, status: 'unpublished' } },
    });
  });

  test.each([true, false])('sees why a lesson cannot be played (published: %s)', async (publish) => {
    const { lessonId, _id } = await addVersion({ sections: [], publish });
    const answer = await load(lessonId, `?versionId=${_id}`);
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toMatchObject({
      playability: { valid: false, errors: [{ code: 'no_sections' }] },
    });
  });
});

test('every version outside the organization gets the same 404', async () => {
  const other = await addVersion({ organization: (await buildOrganization(api)).organization });
  const deleted = await addVersion();
  await markLessonDeleted(api.db, deleted.lessonId);
  const draft = await addVersion({ publish: false });
  const own = await addVersion();
  for (const [lessonId, versionId] of [
    [randomUUID()],
    [other.lessonId],
    [other.lessonId, other._id],
    [deleted.lessonId],
    [deleted.lessonId, deleted._id],
    [draft.lessonId],
    [own.lessonId, randomUUID()],
    [own.lessonId, draft._id],
    [own.lessonId, other._id],
  ] as const) {
    const query = versionId === undefined ? '' : `?versionId=${versionId}`;
    expectError(await load(lessonId, query), 404, 'Lesson or version not found');
  }
});

test.each<[string, string, string]>([
  ['1', '', 'Invalid lesson ID'],
  ['%00', '', 'Invalid lesson ID'],
  [randomUUID(), '?versionId=1', 'Invalid version ID'],
  [randomUUID(), '?versionId[$ne]=&versionId=', 'Invalid version ID'],
  [randomUUID(), '?include_metadata=yes', 'include_metadata must be true or false'],
  [randomUUID(), '?validate_playability=', 'validate_playability must be true or false'],
])('%s%s gets 400 with the reason', async (lessonId, query, error) => {
  expectError(await load(lessonId, query), 400, error);
});
