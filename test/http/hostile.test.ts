import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { launchTokenOf, tokenOf } from '../support/tenants.ts';
import {
  expectAllSane,
  formRequest,
  formsOf,
  hostileCases,
  meantStatuses,
  useHostileLab,
} from './hostile.ts';
import type { RawRequest } from './hostile.ts';
import type { Caller } from './isolation-table.ts';

/*
 * Requests that no client library sends: raw bytes in URLs, headers and bodies. The heavy tests with schemathesis cover
 * values that a client can send.
 */

const lab = useHostileLab();

/** Raw text for parts of a URL. */
const texts = [
  ...['', '.', '..', '*', '%', '%00', '\0', '%ff', '\xff\xfe', '%2f', '%2e%2e', '..%5c..%5c'],
  '%252e%252e%252f',
  ...['%0d%0aX-Injected:%201', '%C0%AE%C0%AF', '%ED%A0%80', '%E2%80%AE', '{"$ne":null}', '.*', '__proto__'],
  ...['constructor', 'null', '1e400', '%00'.repeat(1000), '%61'.repeat(5000)],
];

/** Queries that some parsers read as objects and lists, or that are large. */
const queries = [
  ...['[$ne]', '[$regex]', '[]', '[0]', '[', '.$ne', '%5B%24gt%5D', '[__proto__][polluted]'].map(
    (end) => `token${end}=1`,
  ),
  '__proto__[polluted]=1&constructor[prototype][polluted]=1&__proto__=1&constructor=1&toString=1',
  ...['&', '=', '?', '%'].map((character) => character.repeat(20_000)),
  ...[`a${'[b]'.repeat(5000)}=1`, `a=${'b'.repeat(1_000_000)}`, 'token=a&token=b', 'limit&status&cursor'],
];

const headerNames = [
  ...['Accept', 'Accept-Encoding', 'Access-Control-Request-Method', 'Content-Encoding', 'Content-Type'],
  ...['Expect', 'If-Match', 'If-None-Match', 'If-Range', 'Origin', 'Prefer', 'Range', 'Sec-Fetch-Site'],
  'X-Forwarded-For',
  ...['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-HTTP-Method-Override', 'X-Request-Id', '__proto__'],
];
const headers = [
  ...headerNames.flatMap((name) => ['', '\xff\xfe', ',a'.repeat(7000)].map((value) => `${name}: ${value}`)),
  ...['bytes=5-1', 'bytes=-0', 'bytes=0-0,-1', 'bytes=9007199254740993-', `bytes=${'0-0,'.repeat(3000)}`].map(
    (value) => `Range: ${value}`,
  ),
  ...['Origin: https://pages.example', 'Origin: https://[', 'X-Forwarded-For: [', 'X-Forwarded-Host: [[['],
  ...['X-Forwarded-Proto: javascript', 'X-Request-Id: a\tb', 'If-None-Match: W/"', 'Upgrade: websocket'],
];

test.each(hostileCases)('a well-formed request to %s, as %s, succeeds', async (name, caller) => {
  const [status] = await expectAllSane(lab.url, [lab.requestFor(name, caller)]);
  const { [name]: meant } = meantStatuses;
  expect(status).toSatisfy((given: number) => (meant === undefined ? given < 400 : given === meant));
});

/** Sends the valid request of a case with each of these changes; returns the statuses. */
function send(name: string, caller: Caller, changes: Partial<RawRequest>[]): Promise<number[]> {
  const valid = lab.requestFor(name, caller);
  return expectAllSane(
    lab.url,
    changes.map((change) => ({ ...valid, ...change })),
  );
}

const toTarget = (target: string) => ({ target });

test.each(hostileCases)('raw text in the path of %s, as %s, causes no failure', async (name, caller) => {
  const [path = '', query = ''] = lab.requestFor(name, caller).target.split('?');
  const [, route = ''] = name.split(' ');
  const literals = route.split('/');
  const parts = path.split('/');
  const variable = parts.map((_part, index) => index).filter((index) => parts[index] !== literals[index]);
  const segments = variable.flatMap((index) => texts.map((text) => parts.with(index, text).join('/')));
  await send(
    name,
    caller,
    segments.map((segment) => toTarget(`${segment}?${query}`)),
  );
});

/** An endpoint of the API, a page, a file, a query that is read as a form, and a body. */
const kinds = hostileCases.filter(([name]) =>
  [
    ...['GET /api/lessons', 'GET /embed/:lessonId', 'GET /assets/*address', 'GET /lti/login'],
    'POST /api/session',
  ].includes(name),
);

describe.each(kinds)('%s, as %s,', (name, caller) => {
  test('withstands unusual spellings of its URL, and hostile queries', async () => {
    const { target } = lab.requestFor(name, caller);
    const [path = '', query = ''] = target.split('?');
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
      ...['/', '#x', '%00', '%20', ' ', '?', '&'].map((after) => target + after),
      ...['%2f', '\\', '//', '/./', ';/'].map((between) => target.replaceAll('/', between)),
      ...[target.toUpperCase(), target.slice(1)],
      ...queries.map((more) => `${path}?${query}&${more}`),
    ];
    await send(name, caller, targets.map(toTarget));
  });

  test('withstands raw header values and unknown methods', async () => {
    const own = lab.requestFor(name, caller).headers;
    // If a header occurs twice, the first value counts.
    const withHeaders = headers.map((header) => ({ headers: [header, ...own] }));
    // Node closes the connection on CONNECT because no listener is registered.
    const methods = [...METHODS.filter((method) => method !== 'CONNECT'), 'BREW', 'get', '__proto__', ''];
    const withMethods = methods.map((method) => ({ method }));
    await send(name, caller, [...withHeaders, ...withMethods]);
  });
});

const nested = (open: string, close: string) => `${open.repeat(10_000)}1${close.repeat(10_000)}`;
const invalidBodies: (string | Buffer)[] = [
  ...['', '\0', '{', 'null', '1', '[]', '{}', '{}{}', "{'a':1}", '{"a":1,}', '\ufeff{}', 'a=b'],
  ...[nested('[', ']'), nested('{"a":', '}'), '['.repeat(60_000), `{"a":${'9'.repeat(60_000)}}`],
  `{${Array.from({ length: 5000 }, (_, index) => `"k${index}":0`).join(',')}}`,
  ...[`"${'\\u0000'.repeat(10_000)}"`, `"${'a'.repeat(2_000_000)}"`],
  ...[Buffer.from([0x22, 0xff, 0xfe, 0x22]), Buffer.from('{"a":1}', 'utf16le'), gzipSync('{}')],
  Buffer.alloc(50_000),
];
/** Valid or broken JSON in place of a value. */
const values = [
  ...['1e400', '9007199254740993', '{"$ne":null}', '{"__proto__":{"polluted":1}}', '{"toString":1,"then":1}'],
  ...['"\\u0000"', '"\\ud800"', '"\\r\\nX-Injected: 1"', '"\0"', `"${'🙂'.repeat(255)}"`, '['.repeat(3000)],
];

describe('a body', () => {
  const fresh = (caller: Caller) => {
    const ids = {
      ...lab.tenant.ids,
      learnerId: `learner-${randomUUID()}`,
      ltiUserId: `user-${randomUUID()}`,
    };
    const token = caller === 'launch' ? launchTokenOf(lab.tenant, ids) : tokenOf(lab.tenant, ids);
    const { target, ...rest } = lab.requestFor('POST /api/public/lessons/:lessonId/session', caller);
    return { ...rest, target: target.replace(/(?<=[?&]token=)[^&]*/, token) };
  };

  test.each([
    ['POST /api/public/sign-token', 'bearer'],
    ['POST /api/session', 'anyone'],
    ['POST /api/public/lessons/:lessonId/session', 'embed'],
  ] as const)('for %s that is malformed, too deep or too large is rejected', async (name, caller) => {
    const request = lab.requestFor(name, caller);
    const requests = invalidBodies.map((body) => ({ ...request, body: Buffer.from(body) }));
    const types = ['text/xml', 'multipart/form-data; boundary=x', 'application/json; charset=utf-7', ';;;,'];
    const others = request.headers.filter((header) => !header.startsWith('content-type'));
    requests.push(
      ...types.map((type) => ({ ...request, headers: [...others, `content-type: ${type}`] }) as never),
    );
    for (const status of await expectAllSane(lab.url, requests)) expect([413, 422]).toContain(status);
  });

  const tokens = ['embed', 'launch'] as const;
  test.each(tokens)('with hostile values, as %s, can be read back if it is accepted', async (caller) => {
    const { versionId, widgetId } = lab.tenant.ids;
    const place = `"versionId":"${versionId}","currentSectionIndex":0,"currentStepIndex":0`;
    const bodies = values.flatMap((value) => [
      `{${place},"progressData":{"a":${value}}}`,
      `{${place},"variableState":${value}}`,
      `{${place},"items":[{"widgetId":"${widgetId}","answer":${value}}]}`,
      `{${place},"items":[{"widgetId":${value},"answer":1}]}`,
      `{${place},"__proto__":${value}}`,
      `{${place},"versionId":${value}}`,
    ]);
    const requests = bodies.map((body) => ({ ...fresh(caller), body: Buffer.from(body) }));
    const statuses = await expectAllSane(lab.url, requests);
    const accepted = requests.filter((_request, index) => statuses[index] === 200);
    expect(accepted.length).toBeGreaterThan(10);
    const reads = accepted.map(({ target }) => ({ method: 'GET', target, headers: [], body: null }));
    expect(new Set(await expectAllSane(lab.url, reads))).toEqual(new Set([200]));
  });

  test.each(Object.keys(formsOf({ issuer: '' })))(
    'that is no valid form for %s is rejected',
    async (name) => {
      const [method = '', path = ''] = name.split(' ');
      const form = new URLSearchParams(formsOf(lab.tenant)[name]);
      const raw = [
        '%00',
        '%0d%0aX-Injected:%201',
        '%ff%fe',
        '%',
        '\xff\xfe',
        '__proto__',
        'a'.repeat(30_000),
        'http://[',
      ];
      const changed = [...form.keys()].flatMap((field) => {
        const others = new URLSearchParams([...form].filter(([key]) => key !== field)).toString();
        return [
          '',
          ...raw.map((value) => `${field}=${value}`),
          `${field}[$ne]=1`,
          `${field}=1&${field}=1`,
        ].map((one) => `${others}&${one}`);
      });
      await expectAllSane(
        lab.url,
        changed.map((body) => formRequest(method, path, body)),
      );
      const wholes = ['', '&', '=', '%', '\0', '&'.repeat(30_000), 'a=b&a=b', '{"iss":"a"}'];
      const statuses = await expectAllSane(
        lab.url,
        wholes.map((body) => formRequest(method, path, body)),
      );
      expect(statuses.filter((status) => status < 400)).toEqual([]);
      const types = ['application/json', 'multipart/form-data; boundary=x', ';;;,'].map((type) => ({
        ...formRequest(method, path, form.toString()),
        headers: [`content-type: ${type}`],
      }));
      expect(new Set(await expectAllSane(lab.url, types))).toEqual(new Set([422]));
    },
  );

  const readingKinds = kinds.filter(([name]) => name.startsWith('GET '));
  test.each(readingKinds)('is ignored by %s, as %s', async (name, caller) => {
    const bodies = ['{"$ne":null}', nested('[', ']'), '\0'.repeat(100_000)].map((text) => ({
      body: Buffer.from(text),
    }));
    const own = await expectAllSane(lab.url, [lab.requestFor(name, caller)]);
    const statuses = await send(name, caller, bodies);
    expect(new Set(statuses)).toEqual(new Set(own));
  });
});
