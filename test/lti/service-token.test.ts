import { decodeJwt, decodeProtectedHeader, generateKeyPair } from 'jose';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPlatformClient } from '../../shared/lti/platform-requests.ts';
import type { PlatformClient } from '../../shared/lti/platform-requests.ts';
import { createServiceTokens, ServiceTokenError } from '../../shared/lti/service-token.ts';
import type { ServiceTokens, TokenPlatform } from '../../shared/lti/service-token.ts';
import type { LtiKeys } from '../../shared/lti/keys.ts';
import { answer, file, startOrigin } from '../support/origin.ts';
import type { Behavior, Origin } from '../support/origin.ts';

let keys: LtiKeys;
let origin: Origin;
let client: PlatformClient;
let tokens: ServiceTokens;
let platform: TokenPlatform;
let time: number;
let forms: URLSearchParams[];

beforeAll(async () => {
  const { privateKey } = await generateKeyPair('RS256');
  keys = {
    signer: (keySetId) => Promise.resolve({ kid: `one of ${keySetId}`, privateKey }),
    publicKeys: () => Promise.resolve({ keys: [] }),
  };
});
beforeEach(async () => {
  origin = await startOrigin();
  client = createPlatformClient({ allowedPrivateHosts: [origin.host] });
  time = Date.UTC(2027, 0);
  tokens = createServiceTokens({ client, keys }, () => time);
  const tokenUrl = origin.url('/token?school=7');
  platform = { _id: 'one', clientId: 'client', tokenUrl, tokenAudience: null, keySetId: 'its keys' };
  forms = [];
});
afterEach(async () => {
  client.close();
  await origin.close();
});

/** Issues numbered tokens, with extra response fields. */
const gives =
  (more: Record<string, unknown> = { expires_in: 3600 }): Behavior =>
  async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    forms.push(new URLSearchParams(body));
    response.end(JSON.stringify({ access_token: `token ${forms.length}`, token_type: 'Bearer', ...more }));
  };

const asked = () => origin.requests('/token');

test('a token request uses the client credentials grant, with an assertion signed for the token endpoint', async () => {
  origin.script('/token', gives());
  expect(await tokens.get(platform, ['b', 'a', 'b'])).toBe('token 1');
  const [form] = forms;
  const assertion = form?.get('client_assertion') ?? '';
  expect(Object.fromEntries(form ?? [])).toEqual({
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
    scope: 'a b',
  });
  expect(decodeProtectedHeader(assertion)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'one of its keys' });
  const seconds = time / 1000;
  expect(decodeJwt(assertion)).toEqual({
    iss: 'client',
    sub: 'client',
    aud: platform.tokenUrl,
    iat: seconds,
    exp: seconds + 300,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  });
});

test('a platform may require another audience', async () => {
  origin.script('/token', gives());
  await tokens.get({ ...platform, tokenAudience: 'https://auth.example' }, ['a']);
  expect(decodeJwt(forms[0]?.get('client_assertion') ?? '').aud).toBe('https://auth.example');
});

test('one request serves all concurrent callers with the same scopes in any order', async () => {
  origin.script('/token', gives());
  const scopes = (n: number) => (n % 2 === 0 ? ['a', 'b'] : ['b', 'a', 'a']);
  const got = await Promise.all(Array.from({ length: 100 }, (_, n) => tokens.get(platform, scopes(n))));
  expect(new Set(got)).toEqual(new Set(['token 1']));
  expect(await tokens.get(platform, ['a'])).toBe('token 2');
  expect(await tokens.get({ ...platform, _id: 'two' }, ['a'])).toBe('token 3');
});

test.each<[string, Record<string, unknown>, number]>([
  ['an hour', { expires_in: 3600 }, 3540],
  ['an hour, as text', { expires_in: '3600' }, 3540],
  ['a minute', { expires_in: 60 }, 30],
  ['an unknown time', {}, 240],
  ['it says nonsense', { expires_in: 'soon' }, 240],
])('a token that lives %s is used until shortly before its expiry', async (_what, more, seconds) => {
  origin.script('/token', gives(more));
  await tokens.get(platform, ['a']);
  time += seconds * 1000 - 1;
  expect(await tokens.get(platform, ['a'])).toBe('token 1');
  time += 1;
  expect(await tokens.get(platform, ['a'])).toBe('token 2');
});

test.each<[string, number, Behavior, object]>([
  ['refuses', 400, answer(400, {}, '{"error":"invalid_scope"}'), { body: '{"error":"invalid_scope"}' }],
  ['is too busy', 429, answer(429, { 'retry-after': '7' }), { retryAfter: '7' }],
  ['fails', 503, answer(503, {}, 'x'.repeat(10_000)), { body: 'x'.repeat(2_000) }],
  ['redirects', 302, answer(302, { location: '/elsewhere' }), {}],
  ['sends no token', 200, file('{}'), { body: '{}' }],
  ['sends a page', 200, file('<html>'), { body: '<html>' }],
])(
  'an error about a platform that %s has its status %i and message, and the next call sends a new request',
  async (_w, status, fault, more) => {
    origin.script('/token', fault, gives());
    const failed = tokens.get(platform, ['a']);
    await expect(failed).rejects.toBeInstanceOf(ServiceTokenError);
    await expect(failed).rejects.toMatchObject({ status, ...more });
    expect(await tokens.get(platform, ['a'])).toBe('token 1');
    expect(asked()).toBe(2);
  },
);
