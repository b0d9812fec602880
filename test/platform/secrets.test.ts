import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../../shared/platform/config.ts';
import { loadSecrets } from '../../shared/platform/secrets.ts';
import { temporaryFolder } from '../support/folders.ts';

/** Loads the secrets of a data directory; returns them with the warnings. */
async function load(dataDir: string, settings: Record<string, string> = {}) {
  const warnings: string[] = [];
  const config = parseConfig({ LECTERN_DATA_DIR: dataDir, ...settings });
  const secrets = await loadSecrets(config, (message) => warnings.push(message));
  return { secrets, warnings };
}

const files = ['asset-secret', 'cookie-secret', 'key-pepper', 'signing-secret'];
const hex = expect.stringMatching(/^[0-9a-f]{64}$/) as string;

test('missing secrets are generated once, all different, with one warning, and readable only by their owner', async () => {
  const dataDir = await temporaryFolder();
  const folder = join(dataDir, 'secrets');
  const { secrets, warnings } = await load(dataDir);
  expect(secrets).toStrictEqual({
    keyPepper: hex,
    signing: [{ kid: 'local', secret: hex }],
    asset: hex,
    cookie: hex,
  });
  expect(new Set(JSON.stringify(secrets).match(/[0-9a-f]{64}/g)).size).toBe(4);
  expect(warnings).toStrictEqual([
    `Generated secrets for settings that are not set, and stored them in ${folder}: LECTERN_KEY_PEPPER, ` +
      'LECTERN_SIGNING_SECRETS, LECTERN_ASSET_SECRET, LECTERN_COOKIE_SECRET. Set them before you run more than one host.',
  ]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const file of files) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);

  expect(await load(dataDir)).toStrictEqual({ secrets, warnings: [] });
});

test('concurrent first starts agree on the secrets, and each secret causes one warning', async () => {
  const dataDir = await temporaryFolder();
  const loaded = await Promise.all(Array.from({ length: 8 }, () => load(dataDir)));
  expect(new Set(loaded.map(({ secrets }) => JSON.stringify(secrets))).size).toBe(1);
  const told = loaded.flatMap(({ warnings }) => warnings.flatMap((warning) => warning.match(/LECTERN_\w+/g)));
  expect(told.sort()).toStrictEqual([
    'LECTERN_ASSET_SECRET',
    'LECTERN_COOKIE_SECRET',
    'LECTERN_KEY_PEPPER',
    'LECTERN_SIGNING_SECRETS',
  ]);
  expect((await readdir(join(dataDir, 'secrets'))).sort()).toStrictEqual(files);
});

const configured = {
  LECTERN_KEY_PEPPER: 'p'.repeat(32),
  LECTERN_SIGNING_SECRETS: `new:${'n'.repeat(32)},old:${'o'.repeat(32)}`,
  LECTERN_ASSET_SECRET: 'a'.repeat(32),
  LECTERN_COOKIE_SECRET: 'c'.repeat(32),
};

test('configured secrets override stored ones, and nothing is written', async () => {
  const dataDir = await temporaryFolder();
  const expected = {
    secrets: {
      keyPepper: 'p'.repeat(32),
      signing: [
        { kid: 'new', secret: 'n'.repeat(32) },
        { kid: 'old', secret: 'o'.repeat(32) },
      ],
      asset: 'a'.repeat(32),
      cookie: 'c'.repeat(32),
    },
    warnings: [],
  };
  expect(await load(dataDir, configured)).toStrictEqual(expected);
  expect(await readdir(dataDir)).toStrictEqual([]);

  await load(dataDir);
  expect(await load(dataDir, configured)).toStrictEqual(expected);
});

test('only missing secrets are generated and mentioned', async () => {
  const dataDir = await temporaryFolder();
  const { warnings } = await load(dataDir, { ...configured, LECTERN_ASSET_SECRET: '' });
  expect(warnings).toStrictEqual([expect.stringMatching(/: LECTERN_ASSET_SECRET\. /)]);
  expect(await readdir(join(dataDir, 'secrets'))).toStrictEqual(['asset-secret']);
});

test('embed tokens that are turned off need no secret', async () => {
  const dataDir = await temporaryFolder();
  const { secrets } = await load(dataDir, { ...configured, LECTERN_SIGNING_SECRETS: 'none' });
  expect(secrets.signing).toStrictEqual([]);
  expect(await readdir(dataDir)).toStrictEqual([]);
});

test('a damaged secret is rejected, and left unchanged for its owner to repair', async () => {
  const dataDir = await temporaryFolder();
  const path = join(dataDir, 'secrets', 'key-pepper');
  await mkdir(join(dataDir, 'secrets'));
  await writeFile(path, '');
  await expect(load(dataDir)).rejects.toThrow(
    /LECTERN_KEY_PEPPER is not set, and .*key-pepper cannot be used/,
  );
  expect(await readFile(path, 'utf8')).toBe('');
});

test('the error about an unwritable data directory names the setting that helps', async () => {
  const dataDir = await temporaryFolder();
  await writeFile(join(dataDir, 'secrets'), 'a file where a folder should be');
  await expect(load(dataDir)).rejects.toThrow(/LECTERN_KEY_PEPPER is not set, and .*ENOTDIR/);
});
