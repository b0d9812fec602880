import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authenticate } from '../../shared/models/api-key.ts';
import { parseBearer } from '../../shared/accounts/credentials.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness, testPepper } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { lectern, lecternHere, lecternJson } from './command-line.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

interface IssuedKey {
  publicKey: string;
  secretKey: string;
  credentials: string;
}

/** Returns the slug of the organization that credentials identify, as the API finds it. */
async function opened(credentials: string): Promise<string | null> {
  const parsed = parseBearer(`Bearer ${credentials}`);
  if (parsed === null) throw new Error(`Malformed: ${credentials}`);
  const authentication = await authenticate(harness.db, testPepper, parsed);
  return 'organization' in authentication ? authentication.organization.slug : null;
}

describe('lectern org', () => {
  test('create makes an organization, list shows it, set-plan changes its plan', async () => {
    const { environment } = harness;
    const slug = `acme-${randomUUID()}`;
    const create = ['org', 'create', '--slug', slug, '--name', 'Acme & Sons', '--plan', 'solo'];
    const created = await lecternJson(environment, ...create);
    const organization = {
      id: expect.any(String) as string,
      slug,
      name: 'Acme & Sons',
      plan: 'solo',
      allowedOrigins: [],
    };
    expect(created).toStrictEqual(organization);
    expect(await lecternJson(environment, 'org', 'list')).toContainEqual(created);

    const changed = { ...organization, plan: 'edtech' };
    expect(await lecternJson(environment, 'org', 'set-plan', slug, 'edtech')).toStrictEqual(changed);

    const { code, stdout } = await lectern(environment, 'org', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^SLUG +NAME +PLAN +ID +ORIGINS\n/);
    expect(stdout).toMatch(new RegExp(`^${slug} +Acme & Sons +edtech .* any$`, 'm'));
  });

  test('set-origins sets the origins that may embed the lessons; an empty list allows all', async () => {
    const { organization } = await buildOrganization(harness);
    const set = ['org', 'set-origins', organization.slug];
    const given = ['HTTPS://LMS.example:443/', 'https://lms.example', 'http://localhost:8080'];
    const allowedOrigins = ['https://lms.example', 'http://localhost:8080'];
    expect(await lecternJson(harness.environment, ...set, ...given)).toMatchObject({ allowedOrigins });
    const list = await lecternJson(harness.environment, 'org', 'list');
    expect(list).toContainEqual(expect.objectContaining({ id: organization._id, allowedOrigins }));
    const { stdout } = await lecternHere(harness.environment, 'org', 'list');
    expect(stdout).toContain(' https://lms.example http://localhost:8080\n');

    expect(await lectern(harness.environment, ...set)).toMatchObject({
      code: 0,
      stdout: `Lessons of ${organization.slug} may be shown in pages of: any\n`,
    });
    expect(await lecternJson(harness.environment, 'org', 'list')).toContainEqual(
      expect.objectContaining({ id: organization._id, allowedOrigins: [] }),
    );
  });

  test('set-origins rejects an invalid origin and changes nothing', async () => {
    const { organization } = await buildOrganization(harness);
    const set = ['org', 'set-origins', organization.slug];
    await lecternHere(harness.environment, ...set, 'https://lms.example');
    const refused = await lecternHere(
      harness.environment,
      ...set,
      'https://a.example',
      'https://b.example/course',
    );
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('It must be an origin alone, without a path: https://b.example');
    const many = Array.from({ length: 101 }, (_, index) => `https://${index}.example`);
    expect(await lecternHere(harness.environment, ...set, ...many)).toMatchObject({
      code: 1,
      stderr: 'lectern: At most 100 origins can be named.\n',
    });
    expect(await lecternHere(harness.environment, 'org', 'set-origins', 'nobody')).toMatchObject({ code: 1 });
    expect(await lecternJson(harness.environment, 'org', 'list')).toContainEqual(
      expect.objectContaining({ id: organization._id, allowedOrigins: ['https://lms.example'] }),
    );
  });

  test('a slug is unique, and set-plan needs an existing organization', async () => {
    const { organization } = await buildOrganization(harness);
    const create = ['org', 'create', '--slug', organization.slug, '--name', 'Again', '--plan', 'solo'];
    expect(await lecternHere(harness.environment, ...create, '--json')).toStrictEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `lectern: An organization with the slug "${organization.slug}" exists.\n`,
    });
    expect(
      await lecternHere(harness.environment, 'org', 'set-plan', 'nobody', 'solo', '--json'),
    ).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'lectern: There is no organization "nobody". See: lectern org list\n',
    });
  });
});

describe('lectern key', () => {
  test('create prints working credentials, and list shows them without the secret', async () => {
    const { organization } = await buildOrganization(harness);
    const owner = ['--org', organization.slug];
    const create = ['key', 'create', ...owner, '--label', 'LMS', '--expires', '2199-01-01T01:00:00+01:00'];
    const issued = (await lecternJson(harness.environment, ...create)) as IssuedKey;
    expect(issued.credentials).toBe(`${issued.publicKey}.${issued.secretKey}`);
    expect(await opened(issued.credentials)).toBe(organization.slug);

    const listed = await lecternJson(harness.environment, 'key', 'list', ...owner);
    expect(listed).toContainEqual({
      publicKey: issued.publicKey,
      label: 'LMS',
      createdAt: expect.any(String) as string,
      expiresAt: '2199-01-01T00:00:00.000Z',
      revokedAt: null,
      lastUsedAt: expect.any(String) as string,
    });
    const { stdout } = await lectern(harness.environment, 'key', 'list', ...owner);
    expect(stdout).toMatch(new RegExp(`^${issued.publicKey} +LMS +until 2199-01-01`, 'm'));
    expect(stdout).not.toContain('lks_');
  });

  test('rotate issues a successor with the same label, and the old key works during the overlap', async () => {
    const { organization, credentials } = await buildOrganization(harness);
    const [publicKey = ''] = credentials.split('.');
    const rotate = ['key', 'rotate', publicKey, '--overlap-hours', '2'];
    const successor = (await lecternJson(harness.environment, ...rotate)) as IssuedKey;
    expect(await opened(successor.credentials)).toBe(organization.slug);
    expect(await opened(credentials)).toBe(organization.slug);

    const old = await harness.db.apiKeys.findById(publicKey).lean();
    const hoursLeft = (Number(old?.expiresAt) - Date.now()) / 3_600_000;
    expect(hoursLeft).toBeGreaterThan(1.9);
    expect(hoursLeft).toBeLessThanOrEqual(2);
  });

  test('revoke disables a key at once; it accepts whole credentials and does not repeat their secret', async () => {
    const { credentials } = await buildOrganization(harness);
    const [publicKey = '', secret = ''] = credentials.split('.');
    const { code, stdout, stderr } = await lectern(harness.environment, 'key', 'revoke', credentials);
    expect({ code, stdout, stderr }).toStrictEqual({ code: 0, stdout: `Revoked ${publicKey}\n`, stderr: '' });
    expect(stdout).not.toContain(secret);
    expect(await opened(credentials)).toBeNull();

    const rotated = await lecternHere(harness.environment, 'key', 'rotate', publicKey);
    expect(rotated).toMatchObject({ code: 1, stdout: '' });
    expect(rotated.stderr).toContain(`There is no key ${publicKey} that could be changed.`);
  });
});
