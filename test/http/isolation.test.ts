import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { endpoints, idsOf, requestOf, withoutIds } from './isolation-table.ts';
import type { Caller, Endpoint } from './isolation-table.ts';
import { apiRoutes } from './route-table.ts';
import { buildTenant, unknownIds } from '../support/tenants.ts';
import type { IdName, Ids, Tenant } from '../support/tenants.ts';

let harness: Harness;
let address: string;
/** The owner of the ids, and the organization that sends them. */
let owner: Tenant;
let stranger: Tenant;
/** Data of the stranger's learners, restored after each write. */
let restore: () => Promise<void>;
let ownedBefore: string;
let ownedCourses: string[];

beforeAll(async () => {
  harness = await startHarness({ RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PER_ADDRESS: '0', LOGIN_TRIES: '1000' });
  address = await harness.startApi();
  await harness.startWorker();
  // The order matters: the owner's list cursor must come before the stranger's lessons.
  stranger = await buildTenant(harness, address);
  owner = await buildTenant(harness, address);
  restore = await rememberProgress(stranger);
  ownedBefore = await everythingOf(owner);
  ownedCourses = await harness.db.courses.distinct('_id', { organizationId: owner.organization._id });
});
afterAll(() => harness.close());

test('every endpoint is either tested with ids of another organization or listed as taking none', () => {
  const known = [...Object.keys(endpoints), ...Object.keys(withoutIds)].sort();
  const routes = apiRoutes();
  expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toStrictEqual(known);
});

/** Path segments that sign the ids beside them and identify nothing themselves. */
const signing = [':expires', ':signature'];

test.each(Object.entries(endpoints))(
  'the test replaces every id parameter in the path of %s',
  (name, endpoint) => {
    const [, path = ''] = name.split(' ');
    const parameters = path.split('/').filter((part) => part.startsWith(':') && !signing.includes(part));
    const unknown = unknownIds(owner.ids);
    const asked = endpoint.ask(unknown, owner).path;
    const inPath = endpoint.ids.filter((id) => asked.includes(unknown[id]));
    expect(inPath).toHaveLength(parameters.length);
  },
);

const cases = Object.entries(endpoints).flatMap(([name, endpoint]) =>
  endpoint.callers.map((caller): [string, Caller, Endpoint] => [name, caller, endpoint]),
);

describe.each(cases)('%s, as %s,', (_name, caller, endpoint) => {
  const send = async (tenant: Tenant, ids: Ids) => {
    await restore();
    const { path, options } = requestOf(endpoint, caller, tenant, ids);
    return ask(address + path, options);
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

  const choices = choicesOf(idsOf(endpoint, caller));
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

/** Each id alone, each pair of ids, and all ids. */
function choicesOf(names: IdName[]): IdName[][] {
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other]));
  return [...names.map((name) => [name]), ...pairs, ...(names.length > 2 ? [names] : [])];
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

async function rememberProgress({ organization }: Tenant): Promise<() => Promise<void>> {
  const kept = [harness.db.embedProgress, harness.db.ltiProgress].map(({ collection }) => collection);
  const filter = { organizationId: organization._id };
  const records = await Promise.all(kept.map((collection) => collection.find(filter).toArray()));
  return async () => {
    for (const [index, collection] of kept.entries()) {
      await collection.deleteMany(filter);
      await collection.insertMany(records[index] ?? []);
    }
  };
}

/**
 * Returns all documents of an organization as text, without the key's last-used time, which the
 * organization's own requests change.
 */
async function everythingOf({ organization }: Tenant): Promise<string> {
  const collections = await harness.db.connection.db?.collections();
  const found = (collections ?? []).map(async (collection) => {
    const documents = await collection.find({ organizationId: organization._id }).toArray();
    return [collection.collectionName, documents];
  });
  return JSON.stringify((await Promise.all(found)).sort(), (name, value: unknown) =>
    name === 'lastUsedAt' ? undefined : value,
  );
}
