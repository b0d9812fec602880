import { beforeEach, expect, test } from 'vitest';
import { listPlatforms } from '../../shared/models/lti-platform.ts';
import { inviteRegistration } from '../../shared/models/lti-registration.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { ask } from '../support/answers.ts';
import { textOf } from '../embed/embed-pages.ts';
import { buildOrganization } from '../support/factories.ts';
import { answer, file, redirectTo } from '../support/origin.ts';
import type { Behavior } from '../support/origin.ts';
import { useApi, useOrigin } from '../support/use.ts';

const origin = useOrigin();
const api = useApi(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host }));
let organization: Organization;
beforeEach(async () => {
  ({ organization } = await buildOrganization(api));
});

type Configuration = Record<string, unknown>;

/** Returns a valid platform configuration with changes. */
const configuration = (changes: Configuration = {}): Configuration => ({
  issuer: origin.url(''),
  authorization_endpoint: origin.url('/auth'),
  token_endpoint: origin.url('/token'),
  jwks_uri: origin.url('/jwks'),
  registration_endpoint: origin.url('/register'),
  ...changes,
});

const changed = (changes: Configuration) => json(configuration(changes));
const json = (value: unknown): Behavior => file(JSON.stringify(value), { contentType: 'application/json' });
const registered = (clientId: unknown = `client ${Math.random()}`) => json({ client_id: clientId });

/** Registers with a new or an existing invitation. */
async function register({
  invitation,
  at = origin.url('/configuration'),
}: { invitation?: string; at?: string } = {}) {
  const token = invitation ?? (await inviteRegistration(api.db, organization._id)).token;
  const query = new URLSearchParams({ openid_configuration: at, registration_token: 'let-me-in' });
  const page = await ask(`${api.url}/lti/register/${token}?${query.toString()}`);
  const [, code] = /Code for support: (\w+)/.exec(textOf(page)) ?? [];
  return { token, status: page.status, code: code ?? null };
}

async function expectFault(status: number, code: string, at?: string): Promise<void> {
  const failed = await register(at === undefined ? {} : { at });
  expect(failed).toMatchObject({ status, code });
  expect(await listPlatforms(api.db, organization._id)).toEqual([]);

  // The invitation stays valid.
  origin.script('/configuration', json(configuration()));
  origin.script('/register', registered());
  expect(await register({ invitation: failed.token })).toMatchObject({ status: 200, code: null });
  expect(await listPlatforms(api.db, organization._id)).toHaveLength(1);
  expect(origin.requests('/elsewhere')).toBe(0);
}

test.each<[title: string, status: number, code: string, behavior: () => Behavior]>([
  ['is missing', 502, 'configuration_unavailable', () => answer(404)],
  ['is redirected', 502, 'configuration_unavailable', () => redirectTo(origin.url('/elsewhere'))],
  ['is not JSON', 502, 'configuration_invalid', () => answer(200, {}, '<html>')],
  ['names no keys', 502, 'configuration_invalid', () => changed({ jwks_uri: undefined })],
  ['names an issuer elsewhere', 403, 'issuer_mismatch', () => changed({ issuer: 'https://lms.example' })],
  [
    'names a token endpoint without https',
    400,
    'address_refused',
    () => changed({ token_endpoint: 'http://lms.example/token' }),
  ],
  [
    'names a registration endpoint in a private network',
    400,
    'address_refused',
    () => changed({ registration_endpoint: 'https://169.254.169.254/latest' }),
  ],
])('a configuration that %s is %i %s', async (_title, status, code, behavior) => {
  origin.script('/configuration', behavior());
  await expectFault(status, code);
});

test('a configuration in a private network is not requested', async () => {
  await expectFault(400, 'address_refused', 'http://127.0.0.1:9/configuration');
});

test.each<[title: string, code: string, behavior: () => Behavior]>([
  ['rejects it', 'registration_refused', () => answer(401, {}, 'no')],
  ['redirects it', 'registration_refused', () => redirectTo(origin.url('/elsewhere'))],
  ['fails', 'registration_unclear', () => answer(500)],
  ['returns no client id', 'registration_unclear', () => json({ client_id: null })],
])('a registration whose platform %s is 502 %s', async (_title, code, behavior) => {
  origin.script('/configuration', json(configuration()));
  origin.script('/register', behavior());
  await expectFault(502, code);
});

test('an error names a client that is already registered', async () => {
  origin.script('/configuration', json(configuration()));
  origin.script('/register', registered('the one client'));
  expect((await register()).status).toBe(200);
  expect(await register()).toMatchObject({ status: 409, code: 'already_registered' });
});

test('only the registration endpoint gets the registration token', async () => {
  origin.script('/configuration', json(configuration()));
  origin.script('/register', registered(17));
  expect((await register()).status).toBe(200);
  const authorizations = (path: string) =>
    origin.log.filter((request) => request.path === path).map(({ headers }) => headers.authorization);
  expect(authorizations('/register').at(-1)).toBe('Bearer let-me-in');
  expect(new Set(authorizations('/configuration'))).toEqual(new Set([undefined]));
  expect((await listPlatforms(api.db, organization._id))[0]?.clientId).toBe('17');
});

test.each<[given: string, kept: boolean, server: () => unknown]>([
  ["a URL on the token endpoint's site", true, () => origin.url('/audience')],
  ['a URL on another site', false, () => 'https://lms.example/token'],
  ['a URL whose user name is that site', false, () => `https://${origin.host}@lms.example/`],
  ['a host alone, as Canvas sends it', false, () => 'sso.canvaslms.com'],
  ['a host with a port', false, () => origin.host],
  ['another kind of URL', false, () => 'urn:lms'],
  ['several', false, () => [origin.url('/audience')]],
  ['nothing', false, () => ''],
])(
  'if the authorization server is %s, it is the audience of token requests: %s',
  async (_given, kept, server) => {
    origin.script('/configuration', json(configuration({ authorization_server: server() })));
    origin.script('/register', registered());
    expect((await register()).status).toBe(200);
    const [platform] = await listPlatforms(api.db, organization._id);
    expect(platform).toMatchObject({ tokenAudience: kept ? server() : null, status: 'pending' });
  },
);
