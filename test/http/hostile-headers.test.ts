import { METHODS } from 'node:http';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { expectAllSane, hostileCases, requestsOf, sixthOf } from './hostile.ts';
import type { RequestOfCase } from './hostile.ts';
import { buildTenant } from '../support/tenants.ts';

let harness: Harness;
let address: string;
let requestOf: RequestOfCase;

beforeAll(async () => {
  harness = await startHarness({
    RATE_LIMIT_PER_KEY: '0',
    RATE_LIMIT_PER_ADDRESS: '0',
    TRUST_PROXY: '1',
    LECTERN_ALLOWED_ORIGINS: 'https://pages.example',
  });
  address = await harness.startApi();
  await harness.startWorker();
  requestOf = await requestsOf(address, await buildTenant(harness, address));
});
afterAll(() => harness.close());

/** Headers that Lectern or its libraries read. */
const names = [
  ...['Accept', 'Accept-Encoding', 'Access-Control-Request-Method', 'Access-Control-Request-Private-Network'],
  ...[
    'Content-Encoding',
    'Content-Type',
    'Expect',
    'If-Match',
    'If-Modified-Since',
    'If-None-Match',
    'If-Range',
  ],
  ...[
    'Origin',
    'Prefer',
    'Range',
    'Sec-Fetch-Site',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
  ],
  ...['X-HTTP-Method-Override', 'X-Request-Id', 'constructor', '__proto__'],
];

const values = ['', '\xff\xfe', ',a'.repeat(7000)];

/** Values sent in every header. */
const moreValues = [
  '%00',
  '{"$ne":null}',
  '__proto__',
  ',,,,',
  '"',
  '*',
  'null',
  '-1',
  '\t',
  '=;='.repeat(300),
];

/** Values in the syntax of their header. */
const particular = [
  ...[
    'bytes=5-1',
    'bytes=-0',
    'bytes=-1',
    'bytes=0-0,-1',
    'bytes=9007199254740993-',
    'bytes=a-b',
    'lines=0-1',
  ],
  `bytes=${'0-0,'.repeat(3000)}`,
].map((value) => `Range: ${value}`);
const others = [
  ...['Origin: https://pages.example', 'Origin: https://[', 'Origin: https://pages.example.evil.example'],
  ...['X-Forwarded-For: 1.2.3.4, ::ffff:1.2.3.4', 'X-Forwarded-For: [', 'X-Forwarded-Host: [[[', 'Host: [[['],
  ...[
    'X-Forwarded-Proto: javascript',
    'X-Request-Id: a\tb',
    'If-None-Match: W/"',
    'If-Range: W/"a"',
    'If-Match: *',
  ],
  ...[
    'Upgrade: websocket',
    'HTTP2-Settings: AAMAAABk',
    'X-HTTP-Method-Override: DELETE',
    'Expect: 100-continue',
  ],
];

/** The API reads these headers the same way for all credentials. */
const cases = hostileCases.filter(([name], index) => hostileCases[index - 1]?.[0] !== name);

describe.each(cases)('%s, as %s,', (name, caller) => {
  test('hostile text in each known header causes no failure', async () => {
    const { headers, ...rest } = requestOf(name, caller);
    const single = names.flatMap((header) => values.map((value) => `${header}: ${value}`));
    const all = sixthOf([...single, ...particular, ...others], name, caller).map((header) => [header]);
    const together = moreValues.map((value) => names.map((header) => `${header}: ${value}`));
    // When a header occurs twice, the first value counts.
    await expectAllSane(
      address,
      [...all, ...together].map((more) => ({ ...rest, headers: [...more, ...headers] })),
    );
  });

  test('every method gets a response', async () => {
    // Node closes the connection on CONNECT because no listener is registered.
    const methods = [...METHODS.filter((method) => method !== 'CONNECT'), 'BREW', 'get', '__proto__', ''];
    const request = requestOf(name, caller);
    await expectAllSane(
      address,
      sixthOf(methods, name, caller).map((method) => ({ ...request, method })),
    );
  });
});
