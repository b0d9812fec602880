import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { beginRegistration } from '../../shared/models/lti-registration.ts';
import { addUnknownDeployment } from '../../shared/models/lti-platform.ts';
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
  keySetId: string;
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
      keySetId: expect.any(String) as string,
      keySetUrl: expect.stringMatching(/^http:\/\/localhost:\d+\/lti\/jwks\/[0-9a-f-]{36}$/) as string,
      anyDeployment: false,
      unknownDeployments: [],
      createdAt: expect.any(String) as string,
    });
    const { stdout } = await run('platform', 'list');
    const block = stdout.split('\n\n').find((text) => text.includes(issuer)) ?? '';
    expect(block).toContain(`${organization.slug}  active  Moodle of the Example School\n`);
    for (const [name, value] of [
      ['deployments', '1 2'],
      ['tokens', 'https://lms.example/token'],
      ['audience', 'https://lms.example'],
      ['its keys', 'https://keys.lms.example/jwks'],
    ]) {
      expect(block).toMatch(new RegExp(`^ +${name} +${value}$`, 'm'));
    }
    expect(block).not.toContain('WARNING');
  });

  test.each([
    ['--token-url', 'https://token.other.example/'],
    ['--jwks-url', 'https://keys.other.example/'],
    ['--token-audience', 'https://other.example/'],
  ])('list and approve warn if %s is on another site', async (option, url) => {
    const { id } = (await json(...addition({ more: [option, url] }))) as Shown;
    const { stdout } = await run('platform', 'approve', id);
    expect(stdout).toMatch(/WARNING: .*different sites/);
    expect(stdout).toContain(url);
    expect((await run('platform', 'list')).stdout).toContain(stdout.split('\n').slice(-4).join('\n').trim());
  });

  test('update and approve change audience and URLs without losing the id', async () => {
    const { id } = (await json(...addition({ more: ['--token-audience', 'sso.example'] }))) as Shown;
    const find = async () =>
      ((await json('platform', 'list')) as (Shown & Record<string, unknown>)[]).find((one) => one.id === id);
    await json('platform', 'approve', id, '--token-audience', '', '--jwks-url', 'https://lms.example/new');
    expect(await find()).toMatchObject({ tokenAudience: null, jwksUrl: 'https://lms.example/new' });
    const moved = ['--issuer', `https://${randomUUID()}.example`, '--client-id', 'other', '--name', 'B'];
    await json('platform', 'update', id, ...moved, '--token-audience', 'https://aud.example');
    expect(await find()).toMatchObject({
      ...{ id, issuer: moved[1], clientId: 'other', name: 'B' },
      ...{ tokenAudience: 'https://aud.example', tokenUrl: 'https://lms.example/token' },
    });
    expect(await errorOf('platform', 'update', id, '--token-url', 'http://lms.example/')).toContain('https');
  });

  test('platforms share a key set only as one client of one platform', async () => {
    const issuer = `https://${randomUUID()}.example`;
    const { keySetId } = (await json('platform', 'invite', '--org', organization.slug)) as Shown;
    const first = (await json(...addition({ issuer, more: ['--key-set', keySetId] }))) as Shown;
    const school = (await json(...addition({ issuer, deploymentIds: ['2'] }))) as Shown;
    const urls = { '--token-url': 'https://elsewhere.example/token' };
    const impostor = (await json(...addition({ issuer, deploymentIds: ['3'], urls }))) as Shown;
    const listed = new Map(
      ((await json('platform', 'list')) as Shown[]).map((platform) => [platform.id, platform.keySetId]),
    );
    expect(listed.get(first.id)).toBe(keySetId);
    expect(listed.get(school.id)).toBe(keySetId);
    expect(listed.get(impostor.id)).not.toBe(keySetId);
    expect((await run('platform', 'approve', impostor.id)).stdout).toMatch(/WARNING: .*same issuer/);
    expect(await errorOf(...addition({ more: ['--key-set', keySetId] }))).toContain('key set');
    expect(await errorOf('platform', 'update', first.id, '--client-id', 'other')).toContain('key set');
    const remaining = () => harness.db.ltiKeys.countDocuments({ keySetId });
    await json('platform', 'remove', first.id);
    expect(await remaining()).toBe(1);
    await json('platform', 'remove', school.id);
    expect(await remaining()).toBe(0);
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

  test('list shows rejected deployments with the command that approves them, quoted', async () => {
    const issuer = `https://${randomUUID()}.example`;
    const { id } = (await json(...addition({ issuer }))) as Shown;
    for (const deployment of ['7:a', "8; echo 'x'"]) {
      await addUnknownDeployment(harness.db, { issuer, clientId: 'client 1' }, deployment);
    }
    const { stdout } = await run('platform', 'list');
    expect(stdout).toContain(`lectern platform approve ${id} --deployment-id 7:a\n`);
    expect(stdout).toContain(`--deployment-id '8; echo '\\''x'\\'''`);
    await json('platform', 'approve', id, '--any-deployment');
    expect(await json('platform', 'list')).toContainEqual(
      expect.objectContaining({ id, anyDeployment: true, unknownDeployments: [] }),
    );
    await json('platform', 'approve', id, '--no-any-deployment');
    expect((await run('platform', 'list')).stdout).toMatch(/deployments +1$/m);
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
    for (const command of ['remove', 'approve', 'update']) {
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
    expect(stdout).toMatch(/key set +http:\/\/localhost:\d+\/lti\/jwks\/[0-9a-f-]{36}\n/);
    expect(stdout).toMatch(
      /^URL for one registration, until \S+ \(shown only once\):\n {2}http:\/\/localhost:/,
    );
  });
});
