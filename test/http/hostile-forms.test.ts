import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { expectAllSane, formRequest, formsOf } from './hostile.ts';
import { buildTenant } from '../support/tenants.ts';
import type { Tenant } from '../support/tenants.ts';

let harness: Harness;
let address: string;
let tenant: Tenant;

beforeAll(async () => {
  harness = await startHarness({ RATE_LIMIT_PER_ADDRESS: '0' });
  address = await harness.startApi();
  tenant = await buildTenant(harness, address);
});
afterAll(() => harness.close());

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Values for form fields, percent-encoded or raw. */
const values = [
  ...['', '%00', '%0d%0aX-Injected:%201', '%ff%fe', '%ED%A0%80', '%', '\xff\xfe', '%F0%9F%98%80', '+', ';'],
  ...['__proto__', 'constructor', '%7B%22%24ne%22%3Anull%7D', '%22%3E%3Cscript%3E', 'javascript:alert(1)'],
  ...['http://[', 'http://127.0.0.1', '//127.0.0.1/lti/launch', 'http://127.0.0.1/lti/launch%3Flesson=%00'],
  ...['a'.repeat(30_000), '..', '.', 'a.b.c.d', `${part({ alg: 'none' })}.${part({})}.`],
  ...[
    `${part({ alg: 'RS256', kid: '__proto__' })}.${part(null)}.${part('a')}`,
    `${part([])}.${part([])}.${part([])}`,
  ],
];

const wholes = ['', '&', '=', '=&=', 'a', '%', '\0', '&'.repeat(30_000), 'a=b&'.repeat(2), '{"iss":"a"}'];

describe.each(Object.keys(formsOf({ issuer: '' })))('%s', (name) => {
  const [method = '', path = ''] = name.split(' ');

  test('hostile values, objects, lists and missing fields cause no failure', async () => {
    const form = formsOf(tenant)[name] ?? {};
    const bodies = Object.keys(form).flatMap((field) => {
      const others = new URLSearchParams(form);
      others.delete(field);
      const given = values.map((value) => `${field}=${value}`);
      const formed = ['[]', '[0]', '[$ne]', '.$ne', '[__proto__][polluted]'].map((end) => `${field}${end}=1`);
      return ['', ...given, ...formed, `${field}=1&${field}=1`].map((one) => `${others.toString()}&${one}`);
    });
    await expectAllSane(
      address,
      bodies.map((body) => formRequest(method, path, body)),
    );
  });

  test('bodies that are not forms cause no failure', async () => {
    const requests = wholes.map((body) => formRequest(method, path, body));
    const statuses = await expectAllSane(address, requests);
    expect(statuses.filter((status) => status < 400)).toEqual([]);
  });

  test.each(['application/json', 'multipart/form-data; boundary=x', 'text/plain', ';;;,'])(
    'bodies of type %s are rejected',
    async (type) => {
      const body = new URLSearchParams(formsOf(tenant)[name]).toString();
      const request = { ...formRequest(method, path, body), headers: [`content-type: ${type}`] };
      expect(await expectAllSane(address, [request])).toEqual([422]);
    },
  );
});
