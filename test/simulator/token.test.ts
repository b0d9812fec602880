import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { scope } from '../../simulator/vocabulary.ts';
import { useSimulatorLab } from './simulator-lab.ts';

const lab = useSimulatorLab({ tokenSeconds: 600 });

async function ask(body: URLSearchParams) {
  const response = await fetch(lab.simulator.addresses.token, { method: 'POST', body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('an assertion of the tool gets an access token for what it may have of what it asks', async () => {
  const request = await lab.scripted.tokenRequest(
    `${scope.score} ${scope.lineItem} https://other.example/scope`,
  );
  expect(await ask(request)).toStrictEqual({
    status: 200,
    body: {
      access_token: expect.stringMatching(/^[\w-]{43}$/) as string,
      token_type: 'Bearer',
      expires_in: 600,
      scope: `${scope.score} ${scope.lineItem}`,
    },
  });
});

test('an assertion is good once', async () => {
  const request = await lab.scripted.tokenRequest(scope.score);
  expect((await ask(request)).status).toBe(200);
  expect(await ask(request)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
});

test('of 20 simultaneous uses of an assertion one is good', async () => {
  const request = await lab.scripted.tokenRequest(scope.score);
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(request)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

const now = () => Math.floor(Date.now() / 1000);

test.each([
  ['for another audience', () => ({ aud: 'https://other.example/token' })],
  ['of another issuer', () => ({ iss: 'somebody' })],
  ['of an unknown client', () => ({ sub: 'somebody' })],
  ['that has expired', () => ({ iat: now() - 120, exp: now() - 60 })],
  ['that never expires', () => ({ exp: undefined })],
  ['that is good for a day', () => ({ exp: now() + 86_400 })],
  ['without an id', () => ({ jti: undefined })],
])('an assertion %s is refused', async (_, claims) => {
  const request = await lab.scripted.tokenRequest(scope.score, claims());
  expect(await ask(request)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
});

test('an assertion with a foreign signature or none is rejected', async () => {
  const { scripted } = lab;
  const { clientId } = scripted.tool;
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: lab.simulator.addresses.token,
    jti: 'a',
    iat: now(),
    exp: now() + 60,
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${part({ alg: 'none' })}.${part(claims)}`;
  const shared = `${part({ alg: 'HS256' })}.${part(claims)}`;
  const hmac = createHmac('sha256', clientId).update(shared).digest('base64url');
  const unknown = await scripted.sign(claims, { kid: 'unknown' });
  for (const assertion of [`${unsigned}.`, `${shared}.${hmac}`, unknown]) {
    const request = await scripted.tokenRequest(scope.score);
    request.set('client_assertion', assertion);
    expect(await ask(request)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  }
});

test.each([
  ['another grant', 'grant_type', 'authorization_code', 'unsupported_grant_type'],
  ['another kind of assertion', 'client_assertion_type', 'saml', 'invalid_request'],
  ['something that is no JWT', 'client_assertion', 'a.b', 'invalid_request'],
  ['scopes that it may not have', 'scope', 'https://other.example/scope', 'invalid_scope'],
  ['no scope', 'scope', '', 'invalid_scope'],
])('a request with %s is refused', async (_, name, value, error) => {
  const request = await lab.scripted.tokenRequest(scope.score);
  request.set(name, value);
  expect(await ask(request)).toMatchObject({ status: 400, body: { error } });
});
