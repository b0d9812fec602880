import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginRegistration } from '../../shared/models/lti-registration.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { lectern, lecternJson } from './command-line.ts';

let harness: Harness;
let organization: Organization;
beforeAll(async () => {
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: 'moodle.test:8080' });
  ({ organization } = await buildOrganization(harness));
});
afterAll(() => harness.close());

interface Given {
  issuer?: string;
  clientId?: string;
  deploymentIds?: string[];
  urls?: Record<string, string>;
  more?: string[];
}

/** Runs `platform add`, by default for a new platform. */
function addition({ issuer, clientId, deploymentIds = ['1'], urls = {}, more = [] }: Given = {}): string[] {
  const addresses = {
    '--auth-url': 'https://lms.example/auth?school=7',
    '--token-url': 'https://lms.example/token',
    '--jwks-url': 'https://keys.lms.example/jwks',
    ...urls,
  };
  return [
    ...['platform', 'add', '--org', organization.slug],
    ...['--issuer', issuer ?? `https://${randomUUID()}.example`, '--client-id', clientId ?? 'client 1'],
    ...deploymentIds.flatMap((id) => ['--deployment-id', id]),
    ...Object.entries(addresses).flat(),
    ...more,
  ];
}

const run = (...args: string[]) => lectern(harness.environment, ...args);
const json = (...args: string[]) => lecternJson(harness.environment, ...args);

interface Shown {
  id: string;
  deploymentIds: string[];
}

describe('lectern platform', () => {
  test('add registers a platform under the id for reading its progress, and list shows all of it', async () => {
    const issuer = `https://${randomUUID()}.example`;
    const more = ['--token-audience', 'https://lms.example', '--name', 'Moodle of the Example School'];
    const added = await json(...addition({ issuer, deploymentIds: ['1', '2', '1'], more }));
    const shown = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      issuer,
      clientId: 'client 1',
      deploymentIds: ['1', '2'],
      status: 'active',
    };
    expect(added).toStrictEqual(shown);
    expect(await json('platform', 'list', '--org', organization.slug)).toContainEqual({
      ...shown,
      id: (added as Shown).id,
      organizationId: organization._id,
      name: 'Moodle of the Example School',
      authUrl: 'https://lms.example/auth?school=7',
      tokenUrl: 'https://lms.example/token',
      jwksUrl: 'https://keys.lms.example/jwks',
      tokenAudience: 'https://lms.example',
      createdAt: expect.any(String) as string,
    });
    const { stdout } = await run('platform', 'list');
    expect(stdout).toMatch(/^ID +ORG +STATE +ISSUER +CLIENT ID +DEPLOYMENTS +KEYS AT +NAME\n/);
    const row = `${organization.slug} +active +${issuer} +client 1 +1 2 +keys.lms.example +Moodle of`;
    expect(stdout).toMatch(new RegExp(row));
  });

  test('a platform without a deployment gets instructions, and approve adds it', async () => {
    const issuer = `https://${randomUUID()}.example`;
    const { code, stdout } = await run(...addition({ issuer, deploymentIds: [] }));
    expect(code).toBe(0);
    const [, id = ''] = /^Added platform (\S+) /.exec(stdout) ?? [];
    expect(stdout).toContain(`lectern platform approve ${id} --deployment-id <id>`);
    const approve = ['platform', 'approve', id];
    expect(await json(...approve, '--deployment-id', 'a', '--deployment-id', 'b')).toMatchObject({
      deploymentIds: ['a', 'b'],
    });
    expect(await json(...approve, '--deployment-id', 'c')).toMatchObject({ deploymentIds: ['a', 'b', 'c'] });
  });

  test('one issuer and client id may have several platforms, but each deployment only one', async () => {
    const issuer = `https://${randomUUID()}.example`;
    await json(...addition({ issuer, deploymentIds: ['school 1'] }));
    const other = (await json(...addition({ issuer, deploymentIds: ['school 2'] }))) as Shown;
    const taken = `lectern: A platform with this issuer and client id has the deployment already (school 1).\n`;
    const again = await run(...addition({ issuer, deploymentIds: ['school 1'] }));
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: taken });
    const approved = await run('platform', 'approve', other.id, '--deployment-id', 'school 1');
    expect(approved).toMatchObject({ code: 1, stdout: '', stderr: taken });
  });

  test('remove deletes a platform, and reports an unknown one', async () => {
    const { id } = (await json(...addition())) as Shown;
    expect(await json('platform', 'remove', id)).toMatchObject({ id });
    expect(await json('platform', 'list')).not.toContainEqual(expect.objectContaining({ id }));
    for (const command of ['remove', 'approve']) {
      expect(await run('platform', command, id)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `lectern: There is no platform ${id}. See: lectern platform list\n`,
      });
    }
  });

  test.each([
    [
      'a URL without https',
      '--token-url',
      'http://lms.example/token',
      /^lectern: --token-url must be an https/,
    ],
    [
      'a private address',
      '--jwks-url',
      'https://10.0.0.1/jwks',
      /^lectern: --jwks-url must be a public address/,
    ],
    ['a URL with a password', '--auth-url', 'https://a:b@lms.example/', /^lectern: --auth-url must not hold/],
    ['no address', '--auth-url', 'lms', /^lectern: --auth-url must be an https address/],
  ])('%s is rejected', async (_what, option, address, message) => {
    const refused = await run(...addition({ urls: { [option]: address } }));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(message);
  });

  test('a host that the settings allow may be used without https', async () => {
    const urls = { '--token-url': 'http://moodle.test:8080/token' };
    expect((await run(...addition({ urls }))).code).toBe(0);
  });

  test('invite prints a URL for one registration, and only its digest is stored', async () => {
    const environment = { ...harness.environment, PUBLIC_URL: 'https://lectern.example/base' };
    const invite = ['platform', 'invite', '--org', organization.slug];
    const { url, expiresAt } = (await lecternJson(environment, ...invite)) as Record<string, string>;
    const [, token = ''] =
      /^https:\/\/lectern\.example\/base\/lti\/register\/(\S{43})$/.exec(url ?? '') ?? [];
    expect(new Date(expiresAt ?? '').getTime()).toBeGreaterThan(Date.now());
    expect(JSON.stringify(await harness.db.ltiRegistrations.find().lean())).not.toContain(token);
    expect(await beginRegistration(harness.db, token)).toMatchObject({ organizationId: organization._id });

    const { stdout } = await run(...invite);
    expect(stdout).toMatch(
      /^Address for one registration, until \S+ \(shown this once\):\n {2}http:\/\/localhost:/,
    );
  });

  test('an unknown organization is reported', async () => {
    for (const args of [['invite'], ['list']]) {
      expect(await run('platform', ...args, '--org', 'nobody')).toMatchObject({
        code: 1,
        stderr: 'lectern: There is no organization "nobody". See: lectern org list\n',
      });
    }
  });
});
