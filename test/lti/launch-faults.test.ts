import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import type { DrivenLaunch } from '../../simulator/drive-launch.ts';
import type { Tampering } from '../../simulator/id-token.ts';
import { faults } from '../../api/lti/faults.ts';
import { digestOfUrl, LaunchStates } from '../../api/lti/launch-state.ts';
import { claim } from '../../shared/lti/claims.ts';
import { removePlatform } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { loadSecrets } from '../../shared/platform/secrets.ts';
import { answerOf, expectRejection, useLaunchLab } from './support/launch-lab.ts';

/* One fault at a time in an otherwise valid launch. */

const lab = useLaunchLab();

const submit = async (launch: DrivenLaunch) => answerOf(await lab.simulator.submitLaunch(launch));
const secretsOf = ({ fields, cookie }: DrivenLaunch) =>
  [fields.id_token, fields.state, cookie.split('=')[1]].filter((text) => text !== undefined && text !== '');

async function expectRejected(code: string, status: number, launch: DrivenLaunch): Promise<void> {
  expectRejection(await submit(launch), status, code, secretsOf(launch) as string[]);
}

/** Returns a state with a changed bit. */
const changed = (state: string) => (state.startsWith('A') ? 'B' : 'A') + state.slice(1);

describe('a launch is rejected', () => {
  test('that the platform itself has rejected', async () => {
    const launch = await lab.drive();
    const { state = '' } = launch.fields;
    const fields = { error: 'login_required', error_description: '<b>not logged in</b>', state };
    await expectRejected('platform_error', 403, { ...launch, fields });
  });

  test.each<[string, string, number, (fields: DrivenLaunch['fields']) => object]>([
    ['without a state', 'state_missing', 400, () => ({ state: '' })],
    ['with a state that was never issued', 'unknown_state', 403, () => ({ state: 'x'.repeat(64) })],
    ['with a state that was changed', 'unknown_state', 403, ({ state = '' }) => ({ state: changed(state) })],
    ['without a token', 'token_missing', 400, () => ({ id_token: '' })],
    ['with a token that is not a JWT', 'malformed_token', 400, () => ({ id_token: 'a.b.c' })],
  ])('%s', async (_what, code, status, changes) => {
    const launch = await lab.drive();
    // The cookie belongs to another state.
    const fields = { ...launch.fields, ...changes(launch.fields) };
    await expectRejected(code, status, { ...launch, fields });
  });

  test('whose state is more than ten minutes old', async () => {
    const launch = await lab.drive();
    const redis = new Redis(lab.harness.servers.redisUrl, { lazyConnect: true });
    const { config, db } = lab.harness;
    const secrets = await loadSecrets(config, () => undefined);
    const states = new LaunchStates({ redis, db, config, secrets }, () => Date.now() - 600_000);
    const { state } = states.begin({
      platformId: lab.platform._id,
      target: digestOfUrl(lab.link.url),
      storageTarget: null,
    });
    await expectRejected('state_expired', 403, { ...launch, fields: { ...launch.fields, state } });
  });

  test('that is sent again; exactly one concurrent request consumes the state', async () => {
    const launch = await lab.drive();
    const answers = await Promise.all(Array.from({ length: 6 }, () => submit(launch)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array<number>(5).fill(403)]);
    for (const answer of answers) {
      if (answer.status !== 303) expectRejection(answer, 403, 'replayed', secretsOf(launch) as string[]);
    }
    await expectRejected('replayed', 403, launch);
  });

  test('from a browser that has another secret', async () => {
    const launch = await lab.drive();
    const [name = ''] = launch.cookie.split('=');
    await expectRejected('state_mismatch', 403, { ...launch, cookie: `${name}=${'A'.repeat(43)}` });
    // That browser did not send the launch, so its own login is still valid.
    expect((await submit(launch)).status).toBe(303);
  });

  test('from a browser that has the secret of another login, or none', async () => {
    const [launch, other] = [await lab.drive(), await lab.drive()];
    for (const cookie of [other.cookie, ''])
      await expectRejected('browser_not_recognized', 403, { ...launch, cookie });
  });

  test('with the token of another login', async () => {
    const [launch, other] = [await lab.drive(), await lab.drive()];
    const fields = { ...launch.fields, id_token: other.fields.id_token ?? '' };
    await expectRejected('wrong_nonce', 403, { ...launch, fields });
  });

  test('whose platform was removed after the login', async () => {
    const { tool, platform } = await lab.register(lab.address);
    const launch = await lab.drive({ link: lab.addLink({ tool }) });
    await removePlatform(lab.harness.db, platform._id);
    await expectRejected('unknown_platform', 403, launch);
  });
});

const now = Math.floor(Date.now() / 1000);
const long = { id: 'a'.repeat(256) };
const claims = (values: Record<string, unknown>) => ({ claims: values });
const custom = (values: object) => ({ claims: { [claim.custom]: values } });

describe('a launch is rejected whose token', () => {
  test.each<[what: string, code: string, status: number, tampering: Tampering]>([
    ['has another algorithm', 'wrong_algorithm', 403, { header: { alg: 'RS512' } }],
    ['is signed with the public key as a secret', 'wrong_algorithm', 403, { signature: 'HS256' }],
    ['names no key', 'key_id_missing', 403, { header: { kid: undefined } }],
    ['names a key that the platform does not have', 'unknown_key', 403, { header: { kid: 'another' } }],
    ['brings its own key', 'bad_signature', 403, { signature: 'another key', header: { jku: 'http://x/' } }],
    ["is signed with another platform's key", 'bad_signature', 403, { signature: 'another key' }],
    ['has no signature', 'bad_signature', 403, { edit: (token) => token.replace(/[^.]*$/, '') }],
    ['requires an extension', 'malformed_token', 400, { header: { crit: ['b64'], b64: false } }],
    ['is for another audience', 'wrong_audience', 403, { claims: { aud: 'other' } }],
    ['was issued to another client', 'wrong_authorized_party', 403, { claims: { azp: 'other' } }],
    ['has expired', 'token_expired', 403, { claims: { iat: now - 300, exp: now - 120 } }],
    ['has no expiry', 'malformed_claims', 400, { claims: { exp: undefined } }],
    ['is old', 'token_too_old', 403, { claims: { iat: now - 3600, exp: now + 3600 } }],
    ['has no issue time', 'malformed_claims', 400, { claims: { iat: undefined } }],
    ['is of the future', 'token_from_future', 403, { claims: { iat: now + 3600, exp: now + 7200 } }],
    ['has no nonce', 'nonce_missing', 403, { claims: { nonce: undefined } }],
    ['has another nonce', 'wrong_nonce', 403, { claims: { nonce: 'another' } }],
    ['has another version', 'wrong_version', 400, { claims: { [claim.version]: '1.1' } }],
    ['has another message', 'wrong_message_type', 400, { claims: { [claim.messageType]: 'LtiStart' } }],
    ['is of another deployment', 'unknown_deployment', 403, { claims: { [claim.deploymentId]: '2' } }],
    ['has another target', 'target_mismatch', 403, claims({ [claim.targetLinkUri]: 'https://x.example/' })],
    ['has no link', 'resource_link_missing', 400, { claims: { [claim.resourceLink]: undefined } }],
    ['has a link with a long id', 'malformed_claims', 400, claims({ [claim.resourceLink]: long })],
    ['names no lesson', 'no_lesson', 404, custom({})],
    ['names an invalid lesson', 'lesson_not_found', 404, custom({ lesson_id: '<i>1</i>' })],
  ])('%s', async (_what, code, status, tampering) => {
    const launch = await lab.drive({ link: lab.addLink(), tampering });
    await expectRejected(code, status, launch);
    // A repeated request fails as well.
    expect((await submit(launch)).status).toBeGreaterThanOrEqual(400);
  });

  test('has two audiences and no authorized party', async () => {
    const { clientId } = lab.tool;
    const both = { aud: ['another', clientId] };
    const tampered = (claims: object) => lab.launch({ tampering: { claims: { ...both, ...claims } } });
    expectRejection(await tampered({}), 403, 'wrong_authorized_party');
    expect((await tampered({ azp: clientId })).status).toBe(303);
  });

  test('needs a key set that is unavailable', async () => {
    const unavailable = await lab.register(await lab.startApi());
    lab.simulator.fail('jwks', { status: 503 });
    const link = lab.addLink({ tool: unavailable.tool });
    expectRejection(await lab.launch({ link }), 502, 'platform_keys_unavailable');
    const { tool } = await lab.register(await lab.startApi());
    expect((await lab.launch({ link: lab.addLink({ tool }) })).status).toBe(303);
  });

  test('is of a deployment of another platform', async () => {
    const others: Partial<LtiPlatform> = { issuer: 'https://other.example', deploymentIds: ['9'] };
    await lab.register(lab.address, others);
    const answer = await lab.launch({ tampering: { claims: { [claim.deploymentId]: '9' } } });
    expectRejection(answer, 403, 'unknown_deployment');
  });
});

test('the guide says how to fix each error code', async () => {
  const guide = await readFile(join(packageRoot, 'docs', 'lti', 'troubleshooting.md'), 'utf8');
  const section = guide.split('\n## ').find((part) => part.startsWith('When Lectern rejects a launch')) ?? '';
  const listed = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code);
  expect(listed.toSorted()).toEqual(Object.keys(faults).toSorted());
});
