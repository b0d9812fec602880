import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listPlatforms } from '../../shared/models/lti-platform.ts';
import { inviteRegistration } from '../../shared/models/lti-registration.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { ask } from '../support/answers.ts';
import { textOf } from '../embed/embed-pages.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { answer, file, redirectTo, reset, startOrigin, stream } from '../support/origin.ts';
import type { Behaviour, Origin } from '../support/origin.ts';

let harness: Harness;
let origin: Origin;
let address: string;
let organization: Organization;

beforeAll(async () => {
  origin = await startOrigin();
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  address = await harness.startApi();
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});
beforeEach(async () => {
  ({ organization } = await buildOrganization(harness));
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

const json = (value: unknown): Behaviour => file(JSON.stringify(value), { contentType: 'application/json' });
const registered = (clientId: unknown = `client ${Math.random()}`) => json({ client_id: clientId });

/** Registers with a new or an existing invitation. */
async function register({
  invitation,
  at = origin.url('/configuration'),
}: { invitation?: string; at?: string } = {}) {
  const token = invitation ?? (await inviteRegistration(harness.db, organization._id)).token;
  const query = new URLSearchParams({ openid_configuration: at, registration_token: 'let-me-in' });
  const page = await ask(`${address}/lti/register/${token}?${query.toString()}`);
  const [, code] = /Code for support: (\w+)/.exec(textOf(page)) ?? [];
  return { token, status: page.status, code: code ?? null };
}

const cases: [string, number, string, () => { config: Behaviour; register?: Behaviour; at?: string }][] = [
  ['a missing configuration', 502, 'configuration_unavailable', () => ({ config: answer(404) })],
  ['a connection that breaks', 502, 'configuration_unavailable', () => ({ config: reset() })],
  ['an endless configuration', 502, 'configuration_unavailable', () => ({ config: stream() })],
  [
    'a redirected configuration',
    502,
    'configuration_unavailable',
    () => ({ config: redirectTo(origin.url('/elsewhere')) }),
  ],
  [
    'a configuration that is not JSON',
    502,
    'configuration_invalid',
    () => ({ config: answer(200, {}, '<html>') }),
  ],
  [
    'a configuration without keys',
    502,
    'configuration_invalid',
    () => ({ config: json(configuration({ jwks_uri: undefined })) }),
  ],
  [
    'an issuer at another host',
    403,
    'issuer_mismatch',
    () => ({ config: json(configuration({ issuer: 'https://canvas.instructure.com' })) }),
  ],
  [
    'a token endpoint without https',
    400,
    'address_refused',
    () => ({ config: json(configuration({ token_endpoint: 'http://lms.example/token' })) }),
  ],
  [
    'a registration endpoint in a private network',
    400,
    'address_refused',
    () => ({ config: json(configuration({ registration_endpoint: 'https://169.254.169.254/latest' })) }),
  ],
  [
    'a configuration in a private network',
    400,
    'address_refused',
    () => ({ config: answer(404), at: 'http://127.0.0.1:9/configuration' }),
  ],
  [
    'a platform that rejects the registration',
    502,
    'registration_refused',
    () => ({ config: json(configuration()), register: answer(401, {}, 'no') }),
  ],
  [
    'a redirected registration',
    502,
    'registration_refused',
    () => ({ config: json(configuration()), register: redirectTo(origin.url('/elsewhere')) }),
  ],
  [
    'a platform that fails during the registration',
    502,
    'registration_unclear',
    () => ({ config: json(configuration()), register: answer(500) }),
  ],
  [
    'a connection that breaks during the registration',
    502,
    'registration_unclear',
    () => ({ config: json(configuration()), register: reset() }),
  ],
  [
    'a response without a client id',
    502,
    'registration_unclear',
    () => ({ config: json(configuration()), register: json({ client_id: null }) }),
  ],
];

test.each(cases)('%s is %i %s, and the invitation stays valid', async (_what, status, code, build) => {
  const { config, register: registration = registered(), at } = build();
  origin.script('/configuration', config);
  origin.script('/register', registration);
  const failed = await register(at === undefined ? {} : { at });
  expect(failed).toMatchObject({ status, code });
  expect(await listPlatforms(harness.db, organization._id)).toEqual([]);

  origin.script('/configuration', json(configuration()));
  origin.script('/register', registered());
  expect(await register({ invitation: failed.token })).toMatchObject({ status: 200, code: null });
  expect(await listPlatforms(harness.db, organization._id)).toHaveLength(1);
  expect(origin.requests('/elsewhere')).toBe(0);
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
  expect((await listPlatforms(harness.db, organization._id))[0]?.clientId).toBe('17');
});

test('the audience of token requests is the authorization server, if the platform names one', async () => {
  origin.script('/configuration', json(configuration({ authorization_server: 'https://lms.example' })));
  origin.script('/register', registered());
  expect((await register()).status).toBe(200);
  const [platform] = await listPlatforms(harness.db, organization._id);
  expect(platform).toMatchObject({ tokenAudience: 'https://lms.example', status: 'pending' });
});
