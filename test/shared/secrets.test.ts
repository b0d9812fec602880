import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '../../shared/config.ts';
import { loadSecrets } from '../../shared/secrets.ts';

async function temporaryDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lectern-secrets-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** The key pepper of a data directory, and what was warned of. */
async function load(dataDir: string, settings: Record<string, string> = {}) {
  const warnings: string[] = [];
  const config = parseConfig({ LECTERN_DATA_DIR: dataDir, ...settings });
  const { keyPepper } = await loadSecrets(config, (message) => warnings.push(message));
  return { keyPepper, warnings };
}

test('a secret that is not configured is made once, with a warning, and kept for its owner alone', async () => {
  const dataDir = await temporaryDataDir();
  const first = await load(dataDir);
  expect(first.keyPepper).toMatch(/^[0-9a-f]{64}$/);
  expect(first.warnings).toStrictEqual([
    expect.stringMatching(/^LECTERN_KEY_PEPPER is not set: .*key-pepper/),
  ]);
  expect((await stat(join(dataDir, 'secrets', 'key-pepper'))).mode & 0o777).toBe(0o600);
  expect((await stat(join(dataDir, 'secrets'))).mode & 0o777).toBe(0o700);

  expect(await load(dataDir)).toStrictEqual({ keyPepper: first.keyPepper, warnings: [] });
});

test('many first starts at once agree on one secret, and one of them warns', async () => {
  const dataDir = await temporaryDataDir();
  const loaded = await Promise.all(Array.from({ length: 20 }, () => load(dataDir)));
  expect(new Set(loaded.map(({ keyPepper }) => keyPepper)).size).toBe(1);
  expect(loaded.flatMap(({ warnings }) => warnings)).toHaveLength(1);
  expect(await readdir(join(dataDir, 'secrets'))).toStrictEqual(['key-pepper']);
});

test('a configured secret wins over one that is kept, and nothing is written', async () => {
  const dataDir = await temporaryDataDir();
  const configured = 'c'.repeat(32);
  expect(await load(dataDir, { LECTERN_KEY_PEPPER: configured })).toStrictEqual({
    keyPepper: configured,
    warnings: [],
  });
  expect(await readdir(dataDir)).toStrictEqual([]);
});

test('a damaged secret is refused, and left for its owner to mend', async () => {
  const dataDir = await temporaryDataDir();
  const path = join(dataDir, 'secrets', 'key-pepper');
  await mkdir(join(dataDir, 'secrets'));
  await writeFile(path, '');
  await expect(load(dataDir)).rejects.toThrow(/LECTERN_KEY_PEPPER is not set, and .*key-pepper is of no use/);
  expect(await readFile(path, 'utf8')).toBe('');
});

test('a data directory that takes no files is named with the setting that would do', async () => {
  const dataDir = await temporaryDataDir();
  await writeFile(join(dataDir, 'secrets'), 'a file where a folder should be');
  await expect(load(dataDir)).rejects.toThrow(/LECTERN_KEY_PEPPER is not set, and .*ENOTDIR/);
});
