import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { beginRegistration } from '../../shared/models/lti-registration.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildOrganization } from '../support/factories.ts';
import { lecternJson, useCommandLine } from './command-line.ts';

const { harness, run, json, errorOf } = useCommandLine({ LECTERN_ALLOWED_PRIVATE_HOSTS: 'moodle.test:8080' });
let organization: Organization;
beforeAll(async () => {
  ({ organization } = await buildOrganization(harness));
});

interface Given {
  issuer?: string;
  clientId?: string;
  deploymentIds?: string[];
  urls?: Record<string, string>;
  more?: string[];
}

/** Runs `platform add`, by default for a new platform. */
function addition({ issuer, clientId, deploymentIds = ['1'], urls = {}, more = [] }: Given = {}): string[] {
  const endpoints = {
    '--auth-url': 'https://lms.example/auth?school=7',
    '--token-url': 'https://lms.example/token',
    '--jwks-url': 'https://keys.lms.example/jwks',
    ...urls,
  };
  return [
    ...['platform', 'add', '--org', organization.slug],
    ...['--issuer', issuer ?? `https://${randomUUID()}.example`, '--client-id', clientId ?? 'client 1'],
    ...deploymentIds.flatMap((id) => ['--deployment-id', id]),
    ...Object.entries(endpoints).flat(),
    ...more,
  ];
}

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
    expect(await errorOf(...addition({ issuer, deploymentIds: ['school 1'] }))).toBe(taken);
    expect(await errorOf('platform', 'approve', other.id, '--deployment-id', 'school 1')).toBe(taken);
  });

  test('remove deletes a platform, and reports an unknown one', async () => {
    const { id } = (await json(...addition())) as Shown;
    expect(await json('platform', 'remove', id)).toMatchObject({ id });
    expect(await json('platform', 'list')).not.toContainEqual(expect.objectContaining({ id }));
    for (const command of ['remove', 'approve']) {
      expect(await errorOf('platform', command, id)).toBe(
        `lectern: There is no platform ${id}. See: lectern platform list\n`,
      );
    }
  });

  test.each([
    ['--token-url', 'http://lms.example/token', 'must be an https'],
    ['--jwks-url', 'https://10.0.0.1/jwks', 'must have a public IP address'],
    ['--auth-url', 'https://a:b@lms.example/', 'must not hold'],
    ['--auth-url', 'lms', 'must be an https URL'],
  ])('%s %s is rejected: it %s', async (option, url, rule) => {
    expect(await errorOf(...addition({ urls: { [option]: url } }))).toContain(`lectern: ${option} ${rule}`);
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
      /^URL for one registration, until \S+ \(shown only once\):\n {2}http:\/\/localhost:/,
    );
  });

  test('an unknown organization is reported', async () => {
    for (const args of [['invite'], ['list']]) {
      expect(await errorOf('platform', ...args, '--org', 'unknown')).toBe(
        'lectern: There is no organization "unknown". See: lectern org list\n',
      );
    }
  });
});
