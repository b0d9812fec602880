import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { expectAllSane, formsOf, hostileCases, meantStatuses, requestsOf } from './hostile.ts';
import type { RawRequest, RequestOfCase } from './hostile.ts';
import type { Caller } from './isolation-table.ts';
import { buildTenant, launchTokenOf, tokenOf } from '../support/tenants.ts';
import type { Tenant } from '../support/tenants.ts';

let harness: Harness;
let address: string;
let tenant: Tenant;
let requestOf: RequestOfCase;

beforeAll(async () => {
  harness = await startHarness({ RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PER_ADDRESS: '0', LOGIN_TRIES: '1000' });
  address = await harness.startApi();
  await harness.startWorker();
  tenant = await buildTenant(harness, address);
  requestOf = await requestsOf(address, tenant);
});
afterAll(() => harness.close());

/** This text, which is valid or broken JSON, replaces a value in a body. */
const values = [
  ...['null', 'true', '[]', '{}', '""', '0', '-0', '-1', '0.5', '1e308', '1e400', '9007199254740993', 'NaN'],
  ...['{"$ne":null}', '{"$gt":""}', '{"$where":"1"}', '[{"$ne":null}]', '"$ne"', '{"a.b":{"$c":1}}'],
  ...['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}', '"__proto__"'],
  ...['"constructor"', '{"length":1e9}', '{"toString":1,"toJSON":1,"then":1}', '[[[[[[[[[[]]]]]]]]]]'],
  ...[
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udfff\\ud800"',
    '"\\u202e"',
    '"\\r\\nX-Injected: 1"',
    '"\0"',
  ],
  ...[`"${'a'.repeat(7000)}"`, `"${'🙂'.repeat(255)}"`, `"${'e\\u0301'.repeat(127)}"`, '9'.repeat(5000)],
  `${'['.repeat(150)}${']'.repeat(150)}`,
  `${'['.repeat(3000)}${']'.repeat(3000)}`,
];

/** Additional fields that a body could have. */
const fields = [
  ...['"__proto__":{"polluted":1}', '"constructor":{"prototype":{"polluted":1}}', '"$where":"1"', '"":1'],
  ...['"\\u0000":1', '"\\ud800":1', '"a.b":1', '"toString":1', '"lessonId":"x","lessonId":{"$ne":null}'],
];

const nested = (open: string, close: string) => `${open.repeat(10_000)}1${close.repeat(10_000)}`;
const wholes: (string | Buffer)[] = [
  ...[
    '',
    ' ',
    '\0',
    '{',
    '}',
    'null',
    '1',
    '"a"',
    '[]',
    '{}',
    '{}{}',
    "{'a':1}",
    '{"a":1,}',
    '\ufeff{}',
    'a=b',
  ],
  ...[
    nested('[', ']'),
    nested('{"a":', '}'),
    nested('[{"a":', '}]'),
    '['.repeat(60_000),
    '{"a":'.repeat(10_000),
  ],
  `{${Array.from({ length: 5000 }, (_, index) => `"k${index}":0`).join(',')}}`,
  `[${'{},'.repeat(20_000)}{}]`,
  `{"a":${'9'.repeat(60_000)}}`,
  `"${'\\u0000'.repeat(10_000)}"`,
  `"${'a'.repeat(2_000_000)}"`,
  Buffer.from([0x22, 0xff, 0xfe, 0x22]),
  Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  Buffer.from('{"a":1}', 'utf16le'),
  gzipSync('{}'),
  Buffer.alloc(50_000),
];

/**
 * The largest accepted body for each endpoint, with a value for each field; each body is a first
 * write.
 */
const bodies: Record<string, () => Record<string, unknown>> = {
  'POST /api/public/sign-token': () => ({
    lessonId: tenant.ids.lessonId,
    versionId: tenant.ids.versionId,
    learnerId: 'learner-1',
    userAttributes: { group: 'b' },
    timeout: 60,
  }),
  'POST /api/session': () => ({ email: `${randomUUID()}@example.com`, password: '' }),
  'POST /api/public/lessons/:lessonId/session': () => ({
    versionId: tenant.ids.versionId,
    revision: 0,
    writeId: randomUUID(),
    currentSectionIndex: 0,
    currentStepIndex: 0,
    progressData: { page: 1 },
    variableState: { name: 'a' },
    items: [{ widgetId: tenant.ids.widgetId, answer: ['a'], score: 1, maxScore: 1 }],
    completed: true,
    restart: true,
  }),
};

/** Makes the request for a learner without stored data. */
function freshRequestOf(name: string, caller: Caller): RawRequest {
  const { target, ...rest } = requestOf(name, caller);
  const ids = { ...tenant.ids, learnerId: `learner-${randomUUID()}`, ltiUserId: `user-${randomUUID()}` };
  const token = caller === 'launch' ? launchTokenOf(tenant, ids) : tokenOf(tenant, ids);
  return { ...rest, target: target.replace(/(?<=[?&]token=)[^&]*/, token) };
}

/**
 * Returns one body for each value replaced with the text, at any depth, and one for each field
 * left out.
 */
function variants(body: unknown, texts: string[]): string[] {
  return placesOf(body).flatMap((place) => {
    const marked = JSON.stringify(replaced(body, place, '<here>'));
    const without = JSON.stringify(replaced(body, place, undefined));
    return [without, ...texts.map((text) => marked.replace('"<here>"', () => text))];
  });
}

type Place = (string | number)[];

function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const below = keys.flatMap((key) => placesOf((value as Record<string, unknown>)[key], [...at, key]));
  return at.length === 0 ? below : [at, ...below];
}

function replaced(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
    string,
    unknown
  >;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

const withBody = hostileCases.filter(([name]) => name in bodies);
const forms = Object.keys(formsOf({ issuer: '' }));
const withoutBody = hostileCases.filter(([name]) => !(name in bodies) && !forms.includes(name));

describe.each(withBody)('%s, as %s,', (name, caller) => {
  const send = (texts: (string | Buffer)[]) =>
    expectAllSane(
      address,
      texts.map((text) => ({ ...freshRequestOf(name, caller), body: Buffer.from(text) })),
    );

  test('unknown body fields and names from Object.prototype cause no failure', async () => {
    const body = JSON.stringify(bodies[name]?.());
    await send(fields.flatMap((field) => [`{${field},${body.slice(1)}`, `${body.slice(0, -1)},${field}}`]));
  });

  test('bodies of the wrong type, too deep or too large are rejected', async () => {
    const statuses = await send(wholes);
    expect(statuses.filter((status) => status !== 422 && status !== 413)).toEqual([]);
  });

  test.each([
    ['compressed', 'content-encoding: gzip'],
    ['of another type', 'content-type: application/xml'],
    ['of parts', 'content-type: multipart/form-data; boundary=x'],
    ['of a form', 'content-type: application/x-www-form-urlencoded'],
    ['in another charset', 'content-type: application/json; charset=utf-7'],
    ['of an invalid content type', 'content-type: ;;;,'],
  ])('a body that is %s is rejected', async (_what, header) => {
    const { headers, ...rest } = freshRequestOf(name, caller);
    const given = header.split(':')[0] ?? '';
    const others = headers.filter((one) => !one.startsWith(given));
    expect(await expectAllSane(address, [{ ...rest, headers: [...others, header] }])).toEqual([422]);
  });
});

/** The body is parsed the same way for all credentials. */
const once = withBody.filter(([, caller]) => caller !== 'launch');

test.each(once)(
  '%s, as %s, survives hostile values in each body field, and missing fields',
  async (name, caller) => {
    const texts = variants(bodies[name]?.(), values);
    const requests = texts.map((text) => ({ ...freshRequestOf(name, caller), body: Buffer.from(text) }));
    const statuses = await expectAllSane(address, requests);
    if (name !== 'POST /api/public/lessons/:lessonId/session') return;
    // The API can read back what it accepted.
    const taken = requests.filter((_request, index) => statuses[index] === 200);
    expect(taken.length).toBeGreaterThan(100);
    const reading = taken.map(({ target }) => ({ method: 'GET', target, headers: [], body: null }));
    expect(new Set(await expectAllSane(address, reading))).toEqual(new Set([200]));
  },
  120_000,
);

test.each(withoutBody)('%s, as %s, ignores the request body', async (name, caller) => {
  const request = requestOf(name, caller);
  const given = ['{}', '{"$ne":null}', nested('[', ']'), '\0'.repeat(100_000)].map((text) =>
    Buffer.from(text),
  );
  const statuses = await expectAllSane(
    address,
    given.map((body) => ({ ...request, body })),
  );
  const { [name]: meant } = meantStatuses;
  for (const status of statuses) expect(status).toSatisfy((given: number) => given < 400 || given === meant);
});
