import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { endpoints, idsOf, requestOf, withoutIds } from './isolation-table.ts';
import type { Caller, Endpoint } from './isolation-table.ts';
import { apiRoutes } from './route-table.ts';
import { buildTenant, tokenOf, unknownIds } from '../support/tenants.ts';
import type { IdName, Ids, Tenant } from '../support/tenants.ts';
import { useApi } from '../support/use.ts';
import { testPepper } from '../support/harness.ts';
import { pngWith } from '../exports/pictures.ts';

const api = useApi(
  { RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PER_ADDRESS: '0', LOGIN_TRIES: '1000' },
  { worker: true },
);
/** The owner of the ids, and the organization that sends them. */
let owner: Tenant;
let stranger: Tenant;
/** Restores the records of both tenants' learners after a write. */
let restore: () => Promise<void>;
let ownedBefore: string;
let ownedCourses: string[];

beforeAll(async () => {
  // The order matters: the owner's list cursor must come before the stranger's lessons.
  stranger = await buildTenant(api, api.url);
  owner = await buildTenant(api, api.url);
  restore = await rememberProgress();
  ownedBefore = await everythingOf(owner);
  ownedCourses = await api.db.courses.distinct('_id', { organizationId: owner.organization._id });
});

test('every endpoint is either tested with ids of another organization or listed as taking none', () => {
  const known = [...Object.keys(endpoints), ...Object.keys(withoutIds)].sort();
  const routes = apiRoutes();
  expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toStrictEqual(known);
});

const cases = Object.entries(endpoints).flatMap(([name, endpoint]) =>
  endpoint.callers.map((caller): [string, Caller, Endpoint] => [name, caller, endpoint]),
);

describe.each(cases)('%s, as %s,', (name, caller, endpoint) => {
  const send = async (tenant: Tenant, ids: Ids) => {
    const { path, options } = requestOf(endpoint, caller, tenant, ids);
    const answer = await ask(api.url + path, options);
    if (name === 'POST /api/public/lessons/:lessonId/session' && answer.status === 200) await restore();
    return answer;
  };

  test('an organization can use its own ids', async () => {
    for (const tenant of [owner, stranger]) {
      const answer = await send(tenant, tenant.ids);
      expect({
        status: answer.status,
        body: answer.status < 400 ? '' : answer.body.toString(),
      }).toStrictEqual({
        status: expect.toSatisfy((status: number) => status < 400) as number,
        body: '',
      });
    }
  });

  const choices = choicesOf(idsOf(endpoint, caller), caller);
  test.each(choices.map((names) => [names.join(' and '), names] as const))(
    "another organization's %s gets the same response as an id that does not exist",
    async (_names, names) => {
      const unknown = unknownIds(owner.ids);
      const forOwned = await send(stranger, replaced(names, owner.ids));
      const forUnknown = await send(stranger, replaced(names, unknown));
      expect(plain(forOwned, names, owner.ids)).toStrictEqual(plain(forUnknown, names, unknown));
      const rest = plain(forOwned, names, owner.ids).body;
      for (const id of [...Object.values(owner.ids), ...ownedCourses]) expect(rest).not.toContain(id);
    },
  );
});

test("the owner's data stays unchanged", async () => {
  expect(ownedCourses).toHaveLength(1);
  expect(await everythingOf(owner)).toBe(ownedBefore);
});

test("a lesson that references another organization's media file and widget gets neither", async () => {
  const { mediaId, widgetType } = owner.ids;
  const { path } = await buildPackage({
    blocks: () => [
      { type: 'Image', props: { id: 'Image-1', src: `media:${mediaId}`, alt: '', caption: '' } },
      { type: widgetType, props: { id: 'Dial-1' } },
    ],
  });
  const { lessonId } = await buildVersion(api, stranger.organization, path);
  const token = tokenOf(stranger, { ...stranger.ids, claimedLessonId: lessonId });
  const lesson = `${api.url}/api/public/lessons/${lessonId}`;
  expectError(await ask(`${lesson}/media/${mediaId}?token=${token}`), 404, 'Media file not found');
  expectError(await ask(`${lesson}/widgets/${widgetType}.js?token=${token}`), 404, 'Widget not found');
});

test('two organizations may use the same learner id and media id independently', async () => {
  const { learnerId, mediaId } = owner.ids;
  const { path } = await buildPackage({ media: [{ id: mediaId, bytes: pngWith('another picture') }] });
  const { lessonId } = await buildVersion(api, stranger.organization, path);
  const token = tokenOf(stranger, { ...stranger.ids, claimedLessonId: lessonId, learnerId });
  const lesson = `${api.url}/api/public/lessons/${lessonId}`;
  const found = await ask(`${lesson}/media/${mediaId}?token=${token}`);
  const file = await ask(new URL(found.headers.get('location') ?? '', api.url).href);
  expect(file.body.toString('latin1')).toContain('another picture');
  expect(jsonOf(await ask(`${lesson}/session?token=${token}`))).toMatchObject({
    learnerId,
    status: 'not_started',
  });
});

test("one organization's token revocation leaves other organizations' tokens valid", async () => {
  const [lessonId, learnerId] = [stranger.ids.lessonId, `learner-${randomUUID()}`];
  const organizationId = owner.organization._id;
  const now = new Date(Date.now() + 60_000);
  await revokeTokens(api.db, testPepper, { organizationId, lessonId: null, learnerId: null }, now);
  await revokeTokens(api.db, testPepper, { organizationId, lessonId, learnerId }, now);
  const read = (tenant: Tenant, token: string) =>
    ask(`${api.url}/api/public/lessons/${tenant.ids.lessonId}/session?token=${token}`);
  expect((await read(stranger, tokenOf(stranger, { ...stranger.ids, learnerId }))).status).toBe(200);
  expect((await read(owner, tokenOf(owner, owner.ids))).status).toBe(401);
});

/** Ids whose checks are reached only if they fit together. */
const together: IdName[][] = [
  // The token is for the lesson in the path.
  ['lessonId', 'claimedLessonId'],
  // The write is of the version that the token names.
  ['versionId', 'claimedVersionId'],
  // The learner of another organization, in the caller's own lesson.
  ['ltiUserId', 'platformId', 'contextId'],
];

/** Returns each id alone, ids that reach code together, and all ids. */
function choicesOf(names: IdName[], caller: Caller): IdName[][] {
  const groups = together.filter((group) => group.every((name) => names.includes(name)));
  const choices = [...names.map((name) => [name]), ...groups, names];
  // A pinned token is an embed token that names a version.
  const tested = caller === 'pinned' ? choices.filter((ids) => ids.includes('claimedVersionId')) : choices;
  return [...new Map(tested.map((ids) => [ids.join(' and '), ids])).values()];
}

function replaced(names: IdName[], others: Ids): Ids {
  const ids = { ...stranger.ids };
  for (const name of names) ids[name] = others[name];
  return ids;
}

const changing = ['date', 'x-request-id', 'set-cookie'];

/** Removes from a response the ids that were sent and whatever differs between requests. */
function plain({ status, headers, body }: Answer, names: IdName[], ids: Ids) {
  const wordless = (text: string) =>
    names
      .reduce((result, name) => result.replaceAll(ids[name], `<${name}>`), withoutToken(text))
      // The first request of each platform and context creates a course.
      .replace(/(?<="courseId":")[^"]+/, (id) => (ownedCourses.includes(id) ? id : '<courseId>'))
      .replace(/(?<="learner":")[\w-]{43}/, '<learner>')
      .replace(headers.get('x-request-id') ?? '', '<request>')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>');
  const kept = [...headers].filter(([name]) => !changing.includes(name));
  return {
    status,
    headers: kept.map(([name, value]) => `${name}: ${wordless(value)}`),
    body: wordless(body.toString('latin1')),
  };
}

/** Signing a token twice gives the same claims. */
function withoutToken(text: string): string {
  return text.replace(/"[\w-]+\.([\w-]+)\.[\w-]+"/, (_token, payload: string) => {
    const claims = Buffer.from(payload, 'base64url').toString();
    return claims.replace(/"(iat|exp)":\d+/g, '"$1":0');
  });
}

async function rememberProgress(): Promise<() => Promise<void>> {
  const kept = [api.db.embedProgress, api.db.ltiProgress].map(({ collection }) => collection);
  const records = await Promise.all(kept.map((collection) => collection.find().toArray()));
  return async () => {
    for (const [index, collection] of kept.entries()) {
      await collection.deleteMany();
      await collection.insertMany(records[index] ?? []);
    }
  };
}

/** Collections that a tenant's own requests change. The tests of each check that other tenants' requests do not. */
const ownChanges = [
  ...['lessonStatistics', 'webhooks', 'eventDeliveries', 'xapiDestinations'],
  ...['auditEntries', 'erasures', 'exportRecords'],
];

/**
 * Fields that change on their own: the last use of a key, and pending events and scores, which a process publishes and
 * clears after the response.
 */
const ownFields = ['lastUsedAt', 'lastLogInAt', 'updateDueAt', 'gradeAskedAt'];

/** Returns all documents of an organization as text. */
async function everythingOf({ organization }: Tenant): Promise<string> {
  const collections = (await api.db.connection.db?.collections()) ?? [];
  const unchanged = collections.filter(({ collectionName }) => !ownChanges.includes(collectionName));
  const found = unchanged.map(async (collection) => {
    const documents = await collection.find({ organizationId: organization._id }).toArray();
    return [collection.collectionName, documents];
  });
  return JSON.stringify((await Promise.all(found)).sort(), (name, value: unknown) =>
    ownFields.includes(name) ? undefined : value,
  );
}
