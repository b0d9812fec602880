import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deepLinkingResponse } from '../../api/lti/deep-linking-response.ts';
import { claim, gradeScopes } from '../../shared/lti/claims.ts';
import { createLtiKeys } from '../../shared/lti/keys.ts';
import { createPlatformClient } from '../../shared/lti/platform-requests.ts';
import type { PlatformClient } from '../../shared/lti/platform-requests.ts';
import { createServiceTokens } from '../../shared/lti/service-token.ts';
import { createPlatform, findPlatformsOfIssuer } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { inviteRegistration } from '../../shared/models/lti-registration.ts';
import { ask } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { file } from '../support/origin.ts';
import type { Behavior } from '../support/origin.ts';
import { useOrigin } from '../support/use.ts';
import { useLaunchLab } from './support/launch-lab.ts';

/*
 * A platform that registers itself names Lectern's client id, its issuer and its endpoints. Here it names those of
 * another customer's platform, collects what Lectern signs for it, and presents that to the other platform.
 */

const victim = useLaunchLab({ hostname: 'localhost' });
/** The attacker's platform, on another site. */
const attacker = useOrigin();
let address: string;
let client: PlatformClient;
beforeAll(async () => {
  const hosts = [attacker.host, new URL(victim.simulator.issuer).host];
  address = await victim.startApi({ LECTERN_ALLOWED_PRIVATE_HOSTS: hosts.join(',') });
  client = createPlatformClient({ allowedPrivateHosts: hosts });
});
afterAll(() => client.close());

const keys = () => createLtiKeys(victim.harness.db, { keyPepper: testPepper });

/** Registers the attacker's platform, for an organization of its own. */
async function register(changes: Record<string, unknown> = {}): Promise<LtiPlatform> {
  const { organization } = await buildOrganization(victim.harness);
  const { token } = await inviteRegistration(victim.harness.db, organization._id);
  const configuration = {
    issuer: attacker.url(`/${randomUUID()}`),
    authorization_endpoint: attacker.url('/auth'),
    token_endpoint: attacker.url('/token'),
    jwks_uri: attacker.url('/jwks'),
    registration_endpoint: attacker.url('/register'),
    ...changes,
  };
  attacker.script('/configuration', json(configuration));
  attacker.script('/register', json({ client_id: victim.tool.clientId }));
  const query = new URLSearchParams({ openid_configuration: attacker.url('/configuration') });
  expect((await ask(`${address}/lti/register/${token}?${query.toString()}`)).status).toBe(200);
  const found = await findPlatformsOfIssuer(victim.harness.db, String(configuration.issuer));
  const platform = found.find(({ organizationId }) => organizationId === organization._id);
  if (platform === undefined) throw new Error('there is no platform');
  return platform;
}

const json = (value: unknown): Behavior => file(JSON.stringify(value), { contentType: 'application/json' });

/** Returns the form with which Lectern requests a token from a platform's token endpoint. */
async function collectTokenRequest(platform: LtiPlatform): Promise<string> {
  let form = '';
  attacker.script('/token', async (request, response) => {
    form = await text(request);
    response.end(JSON.stringify({ access_token: 'any' }));
  });
  await createServiceTokens({ client, keys: keys() }).get(platform, [gradeScopes.score]);
  return form;
}

const presentToVictim = (form: string) =>
  ask(victim.simulator.urls.token, { method: 'POST', body: new URLSearchParams(form) });

describe('a platform cannot borrow the identity of another', () => {
  test.each([
    ['its token endpoint as the authorization server', () => victim.simulator.urls.token],
    ['its site as the authorization server', () => victim.simulator.issuer],
    ['no authorization server', () => undefined],
  ])('by assertions: it claims the same client id, and %s', async (_what, audience) => {
    const platform = await register({ authorization_server: audience() });
    expect(platform).toMatchObject({ clientId: victim.tool.clientId, tokenAudience: null });
    const answer = await presentToVictim(await collectTokenRequest(platform));
    expect({ status: answer.status, body: answer.body.toString() }).toEqual({
      status: 401,
      body: expect.stringContaining('invalid_client') as string,
    });
  });

  test('by assertions, even if the operator gives it the audience of the other', async () => {
    const platform = { ...(await register()), tokenAudience: victim.simulator.urls.token };
    const forged = await presentToVictim(await collectTokenRequest(platform));
    expect(forged.status).toBe(401);
    // The same request is valid with the key of the real platform.
    const { keySetId } = victim.platform;
    expect((await presentToVictim(await collectTokenRequest({ ...platform, keySetId }))).status).toBe(200);
  });

  test('by deep linking responses to its issuer', async () => {
    const { simulator, tool, address: lectern } = victim;
    await keys().signer(victim.platform.keySetId);
    const platform = { ...(await register()), issuer: simulator.issuer };
    const deepLink = { course: simulator.sample.course, tool };
    const requested = await victim.drive({ user: simulator.sample.users.teacher, deepLink });
    const [, payload = ''] = (requested.fields.id_token ?? '').split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const { data } = claims[claim.deepLinkingSettings] as { data: string };
    const selection = { deploymentId: tool.deploymentIds[0] ?? '', data: JSON.stringify(data) };
    const deliver = async (as: LtiPlatform) => {
      const jwt = await deepLinkingResponse({ keys: keys() }, as, selection, [], lectern);
      const body = new URLSearchParams({ JWT: jwt });
      return (await ask(simulator.urls.deepLinkingReturn, { method: 'POST', body })).status;
    };
    // First, because a platform accepts each response once.
    expect(await deliver(platform)).toBe(400);
    expect(await deliver(victim.platform)).toBe(200);
  });

  test('by its key set', async () => {
    const { _id, createdAt, ...fields } = victim.platform;
    const taken = createPlatform(victim.harness.db, { ...fields, clientId: 'another' });
    await expect(taken).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(_id) });
    expect(createdAt).toBeInstanceOf(Date);
  });
});
