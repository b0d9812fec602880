import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markLessonDeleted } from '../../shared/models/lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { User } from '../../shared/models/user.ts';
import { unpublish } from '../../shared/publishing/publishing.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { buildUser, openSession } from '../accounts/users.ts';

let harness: Harness;
let address: string;
let organization: Organization;
let headers: { authorization: string };
let user: User;
let session: { cookie: string };

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  ({ organization, headers } = await buildOrganization(harness));
  ({ user } = await buildUser(harness, { organization }));
  session = await openSession(address, user);
});
afterAll(() => harness.close());

/** Creates a version of a new lesson; one without sections cannot be played. */
async function addVersion(
  options: { publish?: boolean; playable?: boolean; organization?: Organization } = {},
): Promise<LessonVersion> {
  const { publish = true, playable = true } = options;
  const { path } = await buildPackage(playable ? {} : { sections: [] });
  return buildVersion(harness, options.organization ?? organization, path, { publish });
}

const load = (lessonId: string, query = '', sent: Record<string, string> = session) =>
  ask(`${address}/api/lessons/${lessonId}/player-data${query}`, { headers: sent });

interface PlayerData {
  lesson: { lesson: { id: string; status: string }; totalSections: number };
  playability?: { valid: boolean; errors: { code: string }[] };
}

function expectShapeA(answer: Answer, status: number, error: string): void {
  expect({ status: answer.status, body: jsonOf(answer) }).toStrictEqual({ status, body: { error } });
}

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
      },
      userAttributes: { userId: user._id, email: user.email, role: 'author' },
      playability: { valid: true, errors: [] },
    });
  });

  test('may request metadata, and skip the playability check', async () => {
    const { lessonId } = await addVersion();
    const data = jsonOf(await load(lessonId, '?include_metadata=true&validate_playability=false'));
    expect(data).toMatchObject({
      metadata: {
        title: 'A lesson',
        status: 'published',
        totalSections: 1,
        totalSteps: 1,
        estimatedDuration: 5,
      },
    });
    expect(data).not.toHaveProperty('playability');
  });

  test('may request any version of the organization, including drafts and unpublished ones', async () => {
    const draft = await addVersion({ publish: false });
    const asDraft = jsonOf(await load(draft.lessonId, `?versionId=${draft._id}`)) as PlayerData;
    expect(asDraft.lesson.lesson).toMatchObject({ id: draft.lessonId, status: 'draft' });

    const former = await addVersion();
    await unpublish(harness.db, former.lessonId);
    const query = `?versionId=${former._id.toUpperCase()}`;
    const asFormer = jsonOf(await load(former.lessonId.toUpperCase(), query)) as PlayerData;
    expect(asFormer.lesson.lesson).toMatchObject({ id: former.lessonId, status: 'unpublished' });
  });

  test('sees why a lesson cannot be played: 200 with its problems', async () => {
    for (const publish of [true, false]) {
      const { lessonId, _id } = await addVersion({ playable: false, publish });
      const answer = await load(lessonId, `?versionId=${_id}`);
      expect(answer.status).toBe(200);
      const { playability } = jsonOf(answer) as PlayerData;
      expect(playability?.valid).toBe(false);
      expect(playability?.errors.map(({ code }) => code)).toStrictEqual(['no_sections']);
    }
  });
});

test('every version outside the organization gets the same 404', async () => {
  const other = await addVersion({ organization: (await buildOrganization(harness)).organization });
  const deleted = await addVersion();
  await markLessonDeleted(harness.db, deleted.lessonId);
  const draft = await addVersion({ publish: false });
  const own = await addVersion();
  const asked = [
    await load(randomUUID()),
    await load(other.lessonId),
    await load(other.lessonId, `?versionId=${other._id}`),
    await load(deleted.lessonId),
    await load(deleted.lessonId, `?versionId=${deleted._id}`),
    await load(draft.lessonId),
    await load(own.lessonId, `?versionId=${randomUUID()}`),
    await load(own.lessonId, `?versionId=${draft._id}`),
    await load(own.lessonId, `?versionId=${other._id}`),
  ];
  for (const answer of asked) expectShapeA(answer, 404, 'Lesson or version not found');
});

test('only a session gives access: 401', async () => {
  const { lessonId } = await addVersion();
  const bad: Record<string, string>[] = [{}, headers, { cookie: 'lectern=a; lectern.sig=b' }];
  for (const sent of bad) {
    expectShapeA(await load(lessonId, '', sent), 401, 'Authentication failed');
  }
  expectShapeA(await load('1', '?token=abc', {}), 401, 'Authentication failed');
});

test.each<[string, string, string]>([
  ['1', '', 'Invalid lesson ID'],
  ['%00', '', 'Invalid lesson ID'],
  [randomUUID(), '?versionId=1', 'Invalid version ID'],
  [randomUUID(), '?versionId[$ne]=&versionId=', 'Invalid version ID'],
  [randomUUID(), '?include_metadata=yes', 'include_metadata must be true or false'],
  [randomUUID(), '?validate_playability=', 'validate_playability must be true or false'],
])('%s%s gets 400 with the reason', async (lessonId, query, error) => {
  expectShapeA(await load(lessonId, query), 400, error);
});

test('other methods get 405', async () => {
  const path = `${address}/api/lessons/${randomUUID()}/player-data`;
  const answer = await ask(path, { method: 'POST', headers: session });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD');
});
