import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseBearer } from '../../shared/accounts/credentials.ts';
import { authenticate } from '../../shared/models/api-key.ts';
import { buildOrganization } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useCommandLine } from './command-line.ts';
import { png } from '../exports/pictures.ts';
import { temporaryFolder } from '../support/folders.ts';

const { harness, run, json, errorOf } = useCommandLine();

interface IssuedKey {
  publicKey: string;
  secretKey: string;
  credentials: string;
}

/** Returns the slug of the organization that credentials identify, as the API finds it. */
async function ownerOf(credentials: string): Promise<string | null> {
  const parsed = parseBearer(`Bearer ${credentials}`);
  if (parsed === null) throw new Error(`Malformed: ${credentials}`);
  const authentication = await authenticate(harness.db, testPepper, parsed, '127.0.0.1');
  return 'organization' in authentication ? authentication.organization.slug : null;
}

describe('lectern org', () => {
  test('create makes an organization, list shows it, set-plan and set-external-videos change it', async () => {
    const slug = `acme-${randomUUID()}`;
    const created = await json('org', 'create', '--slug', slug, '--name', 'Acme & Sons', '--plan', 'solo');
    const id = expect.any(String) as string;
    const none = { allowedOrigins: [], externalVideos: false };
    const organization = { id, slug, name: 'Acme & Sons', plan: 'solo', ...none };
    expect(created).toStrictEqual(organization);
    expect(await json('org', 'list')).toContainEqual(created);

    const changed = { ...organization, plan: 'edtech' };
    expect(await json('org', 'set-plan', slug, 'edtech')).toStrictEqual(changed);
    const allowing = { ...changed, externalVideos: true };
    expect(await json('org', 'set-external-videos', slug, 'on')).toStrictEqual(allowing);
    expect(await json('org', 'set-external-videos', slug, 'off')).toStrictEqual(changed);

    const { code, stdout } = await run('org', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^SLUG +NAME +PLAN +ID +ORIGINS\n/);
    expect(stdout).toMatch(new RegExp(`^${slug} +Acme & Sons +edtech .* any$`, 'm'));
  });

  test('set-theme changes the parts that are given, and prints the shades that learners see', async () => {
    const { organization } = await buildOrganization(harness);
    const set = ['org', 'set-theme', organization.slug];
    const folder = await temporaryFolder();
    const [logo, svg] = [join(folder, 'logo.png'), join(folder, 'logo.svg')];
    await writeFile(logo, png(1));
    await writeFile(svg, '<svg xmlns="http://www.w3.org/2000/svg"/>');
    const themed = await json(...set, '--color', '#FFCC00', '--font', 'serif', '--logo', logo);
    const stored = { sha256: expect.any(String) as string, size: png(1).length, mimeType: 'image/png' };
    const theme = { color: '#ffcc00', font: 'serif', logo: stored, logoAlt: organization.name };
    expect(themed).toStrictEqual({ id: organization._id, slug: organization.slug, theme });
    const { stdout } = await run(...set, '--radius', '0', '--font', 'default');
    expect(stdout).toMatch(/^ {2}color {3}#ffcc00$/m);
    expect(stdout).toMatch(
      /on light pages #[0-9a-f]{6} \([45]\.\d:1\), because a contrast of 1\.5:1 is too low/,
    );
    expect(await json(...set)).toMatchObject({ theme: { color: '#ffcc00', radius: 0, logo: stored } });
    expect(await errorOf(...set, '--logo', svg)).toContain('logo.svg is an SVG, which may contain scripts.');
    expect(await errorOf(...set, '--logo', join(folder, 'none.png'))).toContain('cannot be read');
    for (const bad of [
      ['--color', 'red'],
      ['--radius', '25'],
      ['--font', 'comic'],
    ])
      expect(await run(...set, ...bad)).toMatchObject({ code: 2 });
    expect(await json(...set, '--reset')).toMatchObject({ theme: {} });
  });

  test('set-origins sets the origins that may embed the lessons; an invalid one changes nothing; an empty list allows all', async () => {
    const { organization } = await buildOrganization(harness);
    const set = ['org', 'set-origins', organization.slug];
    const given = ['HTTPS://LMS.example:443/', 'https://lms.example', 'http://localhost:8080'];
    const allowedOrigins = ['https://lms.example', 'http://localhost:8080'];
    expect(await json(...set, ...given)).toMatchObject({ allowedOrigins });
    const own = { id: organization._id, allowedOrigins };
    expect(await json('org', 'list')).toContainEqual(expect.objectContaining(own));
    const rejected = await run(...set, 'https://a.example', 'https://b.example/course');
    expect(rejected).toMatchObject({ code: 2, stdout: '' });
    expect(rejected.stderr).toContain('It must be an origin alone, without a path: https://b.example');
    const many = Array.from({ length: 101 }, (_, index) => `https://${index}.example`);
    expect(await errorOf(...set, ...many)).toContain('at most 100 origins, not 101.');
    expect(await json('org', 'list')).toContainEqual(expect.objectContaining(own));

    expect(await run(...set)).toMatchObject({
      code: 0,
      stdout: `Pages of these origins may embed lessons of ${organization.slug}: any\n`,
    });
    const unrestricted = { ...own, allowedOrigins: [] };
    expect(await json('org', 'list')).toContainEqual(expect.objectContaining(unrestricted));
  });

  test('set-limits gives new keys an expiry, also those of a rotation, and a limit of stored bytes', async () => {
    const { organization, credentials } = await buildOrganization(harness);
    const { slug } = organization;
    const set = ['org', 'set-limits', slug];
    const limits = { keyDays: 90, maxStoredBytes: 5_000_000_000, storedBytes: 0 };
    expect(await json(...set, '--key-days', '90', '--storage', '5000000000')).toMatchObject(limits);
    const daysLeft = async ({ publicKey }: IssuedKey) => {
      const key = await harness.db.apiKeys.findById(publicKey).lean();
      return key?.expiresAt ? Math.round((key.expiresAt.getTime() - Date.now()) / 86_400_000) : null;
    };
    const create = ['key', 'create', '--org', slug];
    expect(await daysLeft((await json(...create)) as IssuedKey)).toBe(90);
    expect(await daysLeft((await json(...create, '--expires', 'never')) as IssuedKey)).toBeNull();
    const [old = ''] = credentials.split('.');
    expect(await daysLeft((await json('key', 'rotate', old)) as IssuedKey)).toBe(90);
    expect((await run(...set)).stdout).toBe(
      `New keys of ${slug} expire after 90 days.\nIt stores 0 bytes of 5000000000.\n`,
    );
    const unlimited = { keyDays: null, maxStoredBytes: null };
    expect(await json(...set, '--key-days', 'never', '--storage', 'default')).toMatchObject(unlimited);
    for (const bad of [
      ['--key-days', '0'],
      ['--storage', '1GB'],
      ['--storage', '0'],
    ])
      expect(await run(...set, ...bad)).toMatchObject({ code: 2 });
  });

  test('a slug is unique, and changes need an existing organization', async () => {
    const { slug } = (await buildOrganization(harness)).organization;
    expect(
      await errorOf('org', 'create', '--slug', slug, '--name', 'Again', '--plan', 'solo', '--json'),
    ).toBe(`lectern: An organization with the slug "${slug}" exists.\n`);
    for (const args of [
      ['set-plan', 'unknown', 'solo', '--json'],
      ['set-origins', 'unknown'],
    ]) {
      expect(await errorOf('org', ...args)).toBe(
        'lectern: There is no organization "unknown". See: lectern org list\n',
      );
    }
  });
});

describe('lectern key', () => {
  test('create prints working credentials, and list shows them without the secret', async () => {
    const { organization } = await buildOrganization(harness);
    const owner = ['--org', organization.slug];
    const create = ['key', 'create', ...owner, '--label', 'LMS', '--expires', '2199-01-01T01:00:00+01:00'];
    const { publicKey, secretKey, credentials } = (await json(...create)) as IssuedKey;
    expect(credentials).toBe(`${publicKey}.${secretKey}`);
    expect(await ownerOf(credentials)).toBe(organization.slug);

    expect(await json('key', 'list', ...owner)).toContainEqual({
      publicKey,
      label: 'LMS',
      scopes: null,
      allowedAddresses: null,
      createdAt: expect.any(String) as string,
      expiresAt: '2199-01-01T00:00:00.000Z',
      revokedAt: null,
      lastUsedAt: expect.any(String) as string,
    });
    const { stdout } = await run('key', 'list', ...owner);
    expect(stdout).toMatch(new RegExp(`^${publicKey} +LMS +all +until 2199-01-01`, 'm'));
    expect(stdout).not.toContain('lks_');
  });

  test('create limits a key to scopes, and list shows them', async () => {
    const { organization } = await buildOrganization(harness);
    const owner = ['--org', organization.slug];
    const { publicKey } = (await json(
      'key',
      'create',
      ...owner,
      '--scopes',
      'tokens,read,read',
    )) as IssuedKey;
    expect(await json('key', 'list', ...owner)).toContainEqual(
      expect.objectContaining({ publicKey, scopes: ['read', 'tokens'] }),
    );
    expect((await run('key', 'list', ...owner)).stdout).toMatch(
      new RegExp(`^${publicKey} +read,tokens +active +all `, 'm'),
    );
  });

  test('a key has IP addresses, which its successor keeps and set-addresses replaces', async () => {
    const { organization } = await buildOrganization(harness);
    const owner = ['--org', organization.slug];
    const create = ['key', 'create', ...owner, '--address', '203.0.113.7/24', '--address', '2001:db8::1'];
    const { publicKey, credentials } = (await json(...create)) as IssuedKey;
    expect(await ownerOf(credentials)).toBeNull();
    const successor = (await json('key', 'rotate', publicKey)) as IssuedKey;
    const allowedAddresses = ['203.0.113.0/24', '2001:db8::1/128'];
    expect(await json('key', 'list', ...owner)).toMatchObject([
      { allowedAddresses: null },
      { publicKey, allowedAddresses },
      { publicKey: successor.publicKey, allowedAddresses },
    ]);
    expect((await run('key', 'set-addresses', publicKey, '127.0.0.0/8')).stdout).toBe(
      `${publicKey} is valid from: 127.0.0.0/8\n`,
    );
    expect(await ownerOf(credentials)).toBe(organization.slug);
    expect(await run('key', 'set-addresses', publicKey, '127.0.0.0/33')).toMatchObject({ code: 2 });
    expect(await run('key', 'set-addresses', publicKey)).toMatchObject({ code: 1 });
    expect(await json('key', 'set-addresses', publicKey, '--all')).toMatchObject({ allowedAddresses: null });
  });

  test('rotate issues a successor with the same label, and the old key works during the overlap', async () => {
    const { organization, credentials } = await buildOrganization(harness);
    const [publicKey = ''] = credentials.split('.');
    const successor = (await json('key', 'rotate', publicKey, '--overlap-hours', '2')) as IssuedKey;
    expect(await ownerOf(successor.credentials)).toBe(organization.slug);
    expect(await ownerOf(credentials)).toBe(organization.slug);

    const old = await harness.db.apiKeys.findById(publicKey).lean();
    const hoursLeft = (Number(old?.expiresAt) - Date.now()) / 3_600_000;
    expect(hoursLeft).toBeGreaterThan(1.9);
    expect(hoursLeft).toBeLessThanOrEqual(2);
  });

  test('revoke disables a key at once; it accepts whole credentials and does not repeat their secret', async () => {
    const { credentials } = await buildOrganization(harness);
    const [publicKey = ''] = credentials.split('.');
    const { code, stdout, stderr } = await run('key', 'revoke', credentials);
    expect({ code, stdout, stderr }).toStrictEqual({ code: 0, stdout: `Revoked ${publicKey}\n`, stderr: '' });
    expect(await ownerOf(credentials)).toBeNull();
    expect(await errorOf('key', 'rotate', publicKey)).toBe(
      `lectern: There is no active key ${publicKey}. See: lectern key list\n`,
    );
  });
});
