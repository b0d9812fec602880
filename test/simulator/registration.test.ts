import { expect, test } from 'vitest';
import { useSimulatorLab } from './simulator-lab.ts';

const lab = useSimulatorLab({ authorizationServer: 'https://auth.example' });

const toolConfiguration = 'https://purl.imsglobal.org/spec/lti-tool-configuration';

function registration() {
  const { url } = lab.scripted;
  return {
    application_type: 'web',
    response_types: ['id_token'],
    grant_types: ['implicit', 'client_credentials'],
    initiate_login_uri: `${url}/login`,
    redirect_uris: [`${url}/launch`],
    client_name: 'Registered',
    jwks_uri: `${url}/jwks`,
    token_endpoint_auth_method: 'private_key_jwt',
    scope: 'https://purl.imsglobal.org/spec/lti-ags/scope/score https://other.example/scope',
    [toolConfiguration]: {
      domain: new URL(url).host,
      target_link_uri: `${url}/launch`,
      claims: ['iss', 'sub'],
      custom_parameters: { a: '$Context.id' },
      messages: [
        { type: 'LtiResourceLinkRequest' },
        { type: 'LtiDeepLinkingRequest', target_link_uri: `${url}/choose` },
      ],
    },
  };
}

/** What a tool finds at its own registration address. */
function invitation() {
  const { searchParams } = new URL(lab.simulator.registrationUrl(`${lab.scripted.url}/register?own=1`));
  expect(searchParams.get('own')).toBe('1');
  return {
    configurationUrl: searchParams.get('openid_configuration') ?? '',
    token: searchParams.get('registration_token') ?? '',
  };
}

function register(token: string, body: object) {
  return fetch(lab.simulator.addresses.registration, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test('the configuration names every address and what is supported', async () => {
  const { addresses, issuer } = lab.simulator;
  const { configurationUrl } = invitation();
  expect(await (await fetch(configurationUrl)).json()).toMatchObject({
    issuer,
    authorization_endpoint: addresses.authorization,
    token_endpoint: addresses.token,
    jwks_uri: addresses.jwks,
    registration_endpoint: addresses.registration,
    authorization_server: 'https://auth.example',
    token_endpoint_auth_methods_supported: ['private_key_jwt'],
    id_token_signing_alg_values_supported: ['RS256'],
    'https://purl.imsglobal.org/spec/lti-platform-configuration': {
      messages_supported: [{ type: 'LtiResourceLinkRequest' }, { type: 'LtiDeepLinkingRequest' }],
    },
  });
});

test('a tool registers with a one-time token, and gets its client id and deployment', async () => {
  const { token } = invitation();
  const answer = await register(token, registration());
  expect(answer.status).toBe(201);
  const body = (await answer.json()) as Record<string, unknown>;
  const tool = lab.simulator.tools().find(({ clientId }) => clientId === body.client_id);
  expect(body).toMatchObject({
    ...registration(),
    scope: 'https://purl.imsglobal.org/spec/lti-ags/scope/score',
    [toolConfiguration]: { deployment_id: tool?.deploymentIds[0] },
  });
  expect(tool).toMatchObject({
    name: 'Registered',
    deepLinkUrl: `${lab.scripted.url}/choose`,
    custom: { a: '$Context.id' },
    scopes: ['https://purl.imsglobal.org/spec/lti-ags/scope/score'],
  });
  expect((await register(token, registration())).status).toBe(401);
  expect((await register('unknown', registration())).status).toBe(401);
});

test.each([
  ['no redirect address', { redirect_uris: [] }, 'invalid_redirect_uri'],
  [
    'a redirect address that is no web address',
    { redirect_uris: ['javascript:alert(1)'] },
    'invalid_redirect_uri',
  ],
  ['no keys', { jwks_uri: undefined }, 'invalid_client_metadata'],
  [
    'another way to authenticate',
    { token_endpoint_auth_method: 'client_secret_post' },
    'invalid_client_metadata',
  ],
  ['no grant for services', { grant_types: ['implicit'] }, 'invalid_client_metadata'],
  ['nothing of LTI', { [toolConfiguration]: undefined }, 'invalid_client_metadata'],
])('a registration with %s is refused, and its token stays good', async (_, changes, error) => {
  const { token } = invitation();
  const refused = await register(token, { ...registration(), ...changes });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error });
  expect((await register(token, registration())).status).toBe(201);
});

test('assertions name the authorization server that the configuration names', async () => {
  const ask = async (aud: string) => {
    const body = await lab.scripted.tokenRequest('https://purl.imsglobal.org/spec/lti-ags/scope/score', {
      aud,
    });
    return (await fetch(lab.simulator.addresses.token, { method: 'POST', body })).status;
  };
  expect(await ask('https://auth.example')).toBe(200);
  expect(await ask(lab.simulator.addresses.token)).toBe(401);
});
