import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { faults } from '../../api/lti/faults.ts';
import { claim } from '../../shared/lti/claims.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { startApiProcess } from '../support/api-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { tokenOf, useLaunchLab } from './support/launch-lab.ts';

vi.setConfig({ testTimeout: 90_000 });
const lab = useLaunchLab();

test('the log has each launch with its platform and problem, but no secrets and no identity', async () => {
  const { harness, simulator } = lab;
  const api = await startApiProcess(harness, {
    LOG_LEVEL: 'debug',
    LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(simulator.issuer).host,
  });
  const { tool, platform } = await lab.register(api.url);
  const link = lab.addLink({ tool });
  const { learner: user } = simulator.sample.users;
  const launches = [
    await simulator.driveLaunch({ user, link }),
    await simulator.driveLaunch({ user, link, tampering: { claims: { [claim.deploymentId]: 'another' } } }),
  ];
  const answers = [];
  for (const launch of launches) answers.push(await simulator.submitLaunch(launch));
  const unknown = { iss: 'https://unknown.example' };
  await simulator.sendLogin({ user, link, target: 'window', login: unknown });

  const known = { platform: platform._id, organization: platform.organizationId };
  await waitFor('the last line', () => api.output().includes('unknown.example'));
  expect(api.log().filter(({ msg }) => msg.startsWith('launch'))).toMatchObject([
    { msg: 'launch', outcome: 'lesson', ...known },
    { msg: 'launch rejected', code: 'unknown_deployment', deployment: 'another', ...known },
    { msg: 'launch rejected', code: 'unknown_platform', issuer: 'https://unknown.example' },
  ]);
  await api.end();
  const secrets = [
    ...launches.flatMap(({ fields, cookie }) => [fields.id_token, fields.state, cookie.split('=')[1]]),
    ...answers.map((answer) => tokenOf(answer)).filter((token) => token !== undefined),
    ...[user.id, user.loginHint, user.name, user.email],
  ];
  expect(secrets.every((secret) => secret !== undefined && secret !== '')).toBe(true);
  for (const secret of secrets) expect(api.output()).not.toContain(secret);
});

test('the guide says how to fix each error code', async () => {
  const guide = await readFile(join(packageRoot, 'docs', 'lti', 'troubleshooting.md'), 'utf8');
  const section = guide.split('\n## ').find((part) => part.startsWith('When a launch is refused')) ?? '';
  const told = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code);
  expect(told.toSorted()).toEqual(Object.keys(faults).toSorted());
});
