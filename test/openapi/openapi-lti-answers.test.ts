import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator } from '../../simulator/start.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { inviteRegistration } from '../../shared/models/lti-registration.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { createChecker } from './openapi-checks.ts';
import type { Document } from './openapi-checks.ts';

let harness: Harness;
let simulator: Simulator;
let address: string;
let check: ReturnType<typeof createChecker>['expectDocumented'];

beforeAll(async () => {
  simulator = await startSimulator();
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(simulator.issuer).host });
  address = await harness.startApi();
  check = createChecker(jsonOf(await ask(`${address}/openapi.json`)) as Document).expectDocumented;
});
afterAll(async () => {
  await harness.close();
  await simulator.close();
});

async function statusOf(operation: string, url: string): Promise<number> {
  const answer = await ask(url);
  check(operation, answer);
  return answer.status;
}

test('the keys of the service', async () => {
  expect(await statusOf('GET /lti/jwks', `${address}/lti/jwks`)).toBe(200);
});

test('a registration, and each kind of refusal', async () => {
  const operation = 'GET /lti/register/{token}';
  const { organization } = await buildOrganization(harness);
  const { token } = await inviteRegistration(harness.db, organization._id);
  const invitation = `${address}/lti/register/${token}`;
  expect(await statusOf(operation, invitation)).toBe(400);
  expect(await statusOf(operation, simulator.registrationUrl(`${invitation}x`))).toBe(404);
  simulator.fail('registration', { times: 1, status: 400 });
  expect(await statusOf(operation, simulator.registrationUrl(invitation))).toBe(502);
  expect(await statusOf(operation, simulator.registrationUrl(invitation))).toBe(200);
  expect(await statusOf(operation, simulator.registrationUrl(invitation))).toBe(409);
  const { token: late } = await inviteRegistration(harness.db, organization._id);
  await harness.db.ltiRegistrations.updateMany({ platformId: null }, { expiresAt: new Date() });
  const expired = simulator.registrationUrl(`${address}/lti/register/${late}`);
  expect(await statusOf(operation, expired)).toBe(403);
});
