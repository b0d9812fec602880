import { expect, test } from 'vitest';
import type { Fault } from '../../simulator/faults.ts';
import type { Link } from '../../simulator/model.ts';
import { expectRejection, useLaunchLab } from './support/launch-lab.ts';

/*
 * How a platform's key set affects launches. Each test has an API of its own with an empty key
 * cache.
 */

const lab = useLaunchLab();

async function linkOfNewApi(): Promise<Link> {
  const { tool } = await lab.register(await lab.startApi());
  return lab.addLink({ tool });
}
const keyRequests = () => lab.simulator.requests.filter(({ path }) => path === '/jwks').length;

test.each<[what: string, fault: Fault]>([
  ['fails', { status: 500 }],
  ['is gone', { status: 404 }],
  ['has moved', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ['breaks off', { drop: true }],
  ['is a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>We are closed</p>' }],
  ['is endless', { status: 200, body: `{"keys":[${'{},'.repeat(100_000)}{}]}` }],
])('a launch fails while the key set %s, and another one succeeds once it is back', async (_, fault) => {
  const link = await linkOfNewApi();
  lab.simulator.fail('jwks', { ...fault, times: 1 });
  expectRejection(await lab.launch({ link }), 502, 'platform_keys_unavailable');
  const other = await linkOfNewApi();
  expect((await lab.launch({ link: other })).status).toBe(303);
});

test('a launch fails after 10 seconds when the key set does not arrive', async () => {
  const link = await linkOfNewApi();
  lab.simulator.fail('jwks', { hang: true });
  expectRejection(await lab.launch({ link }), 502, 'platform_keys_unavailable');
}, 30_000);

test('concurrent launches wait for a slow key set and share one request', async () => {
  const link = await linkOfNewApi();
  const before = keyRequests();
  lab.simulator.fail('jwks', { delayMs: 500 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => lab.launch({ link })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
  expect(keyRequests() - before).toBe(1);
});

test('a launch with a key added after the last download succeeds', async () => {
  const link = await linkOfNewApi();
  await lab.simulator.rotateKey();
  expect((await lab.launch({ link })).status).toBe(303);
});

test('a launch with a key that the platform has withdrawn is rejected', async () => {
  const link = await linkOfNewApi();
  const { learner: user } = lab.simulator.sample.users;
  const launch = await lab.simulator.driveLaunch({ user, link });
  await lab.simulator.rotateKey({ keepOld: false });
  const answer = await lab.simulator.submitLaunch(launch);
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain('unknown_key');
});

test('while the key set is unavailable, known keys still work', async () => {
  const link = await linkOfNewApi();
  expect((await lab.launch({ link })).status).toBe(303);
  lab.simulator.fail('jwks', { status: 503, times: Infinity });
  expect((await lab.launch({ link })).status).toBe(303);
  lab.simulator.heal();
});
