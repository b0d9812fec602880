import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { expectAllSane, hostileCases, meantStatuses, requestsOf, sixthOf } from './hostile.ts';
import type { RequestOfCase } from './hostile.ts';
import { buildTenant } from '../support/tenants.ts';

let harness: Harness;
let address: string;
let requestOf: RequestOfCase;
/** The parameters of each endpoint, such as "GET /api/lessons": ["status", "limit", "cursor"]. */
let known: Map<string, string[]>;

beforeAll(async () => {
  harness = await startHarness({ RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PER_ADDRESS: '0' });
  address = await harness.startApi();
  await harness.startWorker();
  requestOf = await requestsOf(address, await buildTenant(harness, address));
  known = await parametersOf(address);
});
afterAll(() => harness.close());

/** Raw text for URL positions where an id or a word is expected. */
const texts = [
  ...['', '.', '..', '*', ';', '%', '%00', '\0', '%0a', '%ff', '\xff\xfe', '%zz', '%u0041', '%2f', '%2e%2e'],
  ...['a%00b', '%00'.repeat(1000), '%0d%0aX-Injected:%201', '%2e%2e%2f%2e%2e%2fetc%2fpasswd', '..%5c..%5c'],
  // Overlong and truncated UTF-8 sequences, surrogates, a byte order mark, direction marks,
  // full-width letters.
  ...['%C0%AE%C0%AE%C0%AF', '%E0%80%AE', '%F8%88%80%80%80', '%E0%A4%A', '%ED%A0%80', '%ED%BF%BF%ED%A0%80'],
  ...['%EF%BB%BF', '%E2%80%AE', '%F0%9F%98%80', '%EF%BD%81'.repeat(36)],
  ...['%252e%252e%252f', '%2500', '%61'.repeat(5000), 'a'.repeat(8000)],
  ...['$ne', '%7B%22%24ne%22%3Anull%7D', '{"$ne":null}', '%5Bobject%20Object%5D', '.*', '%28a+%29+%24'],
  ...['__proto__', '%5F%5Fproto%5F%5F', 'constructor', 'prototype', 'toString', 'hasOwnProperty'],
  ...['null', 'undefined', 'NaN', '-0', '1e400', "'%20or%20'1'='1", ':lessonId'],
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff%00',
  'ffffffff-ffff-ffff-ffff-ffffffffffff%0a',
];

/** Suffixes that some parsers read as objects and lists. */
const suffixes = [
  ...['[$ne]', '[$regex]', '[]', '[0]', '[', ']', '.$ne', '%5B%24gt%5D'],
  ...['[__proto__][polluted]', '[constructor][prototype][polluted]'],
];

const queries = [
  '__proto__[polluted]=1&constructor[prototype][polluted]=1&__proto__=1&constructor=1&toString=1',
  ...['&', '=', '?', '%'].map((character) => character.repeat(20_000)),
  Array.from({ length: 4000 }, (_, index) => `a${index}=`).join('&'),
  `a${'[b]'.repeat(5000)}=1`,
  `a=${'b'.repeat(1_000_000)}`,
];

describe.each(hostileCases)('%s, as %s,', (name, caller) => {
  test('a well-formed request succeeds', async () => {
    const [status] = await expectAllSane(address, [requestOf(name, caller)]);
    const { [name]: meant } = meantStatuses;
    expect(status).toSatisfy((given: number) => (meant === undefined ? given < 400 : given === meant));
  });

  test('hostile text in each path segment causes no failure', async () => {
    const { target, ...rest } = requestOf(name, caller);
    const [path = '', query = ''] = target.split('?');
    const parts = path.split('/');
    const written = name.split('/');
    const targets = parts.flatMap((_part, index) =>
      // Endpoints without parameters only compare the path.
      (written[index]?.startsWith(':') ? texts : texts.slice(0, 20)).map(
        (text) => `${parts.with(index, text).join('/')}?${query}`,
      ),
    );
    await expectAllSane(
      address,
      sixthOf(targets, name, caller).map((changed) => ({ ...rest, target: changed })),
    );
  });

  test('unusual spellings of the URL cause no failure', async () => {
    const { target, ...rest } = requestOf(name, caller);
    const hosts = [
      'http://127.0.0.1',
      'http://evil.example',
      'http://[',
      'https://a:b@c',
      'file://',
      'data:',
    ];
    const targets = [
      ...['/', '//', '/.', '/x/..', '/%2e%2e', ...hosts].map((before) => before + target),
      ...['/', '#x', '%00', '%20', ' ', '?', '&'].map((behind) => target + behind),
      ...['%2f', '\\', '//', '/./', ';/'].map((between) => target.replaceAll('/', between)),
      target.toUpperCase(),
      target.slice(1),
    ];
    await expectAllSane(
      address,
      sixthOf(targets, name, caller).map((changed) => ({ ...rest, target: changed })),
    );
  });

  test('hostile text, lists and objects in known and unknown query parameters cause no failure', async () => {
    const { target, ...rest } = requestOf(name, caller);
    const [path = '', query = ''] = target.split('?');
    const pairs = query.split('&').filter((pair) => pair !== '');
    const without = (parameter: string) => pairs.filter((pair) => !pair.startsWith(`${parameter}=`));
    const given = (known.get(name) ?? []).flatMap((parameter) =>
      texts.map((text) => [...without(parameter), `${parameter}=${text}`]),
    );
    const formed = [...(known.get(name) ?? []), 'unknown'].flatMap((parameter) => {
      const own = pairs.find((pair) => pair.startsWith(`${parameter}=`)) ?? `${parameter}=1`;
      const value = own.slice(parameter.length + 1);
      return [
        [],
        [parameter],
        [own, own],
        [own, `${parameter}[$ne]=`],
        Array.from({ length: 500 }, () => own.slice(0, 20)),
        ...suffixes.map((suffix) => [`${parameter}${suffix}=${value}`]),
      ].map((changed) => [...without(parameter), ...changed]);
    });
    const joined = [...given, ...formed].map((changed) => changed.join('&'));
    const whole = queries.flatMap((more) => [more, [...pairs, more].join('&')]);
    const all = [joined, whole].flatMap((some) => sixthOf(some, name, caller));
    await expectAllSane(
      address,
      all.map((changed) => ({ ...rest, target: `${path}?${changed}` })),
    );
  });
});

interface Documented {
  parameters?: { in: string; name: string }[];
}

async function parametersOf(api: string): Promise<Map<string, string[]>> {
  const { paths } = jsonOf(await ask(`${api}/openapi.json`)) as {
    paths: Record<string, Record<string, Documented>>;
  };
  const found = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [] }]): [string, string[]] => {
      const written = path.startsWith('/assets/') ? '/assets/*address' : path.replace(/\{(\w+)\}/g, ':$1');
      const inQuery = parameters.filter((parameter) => parameter.in === 'query');
      return [`${method.toUpperCase()} ${written}`, inQuery.map((parameter) => parameter.name)];
    }),
  );
  return new Map(found);
}
