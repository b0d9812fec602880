import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { lectern, lecternCommand, lecternHere, startCommand } from './command-line.ts';

const noMongo = 'mongodb://me:hunter2@127.0.0.1:1/lectern';
const noRedis = 'redis://me:hunter2@127.0.0.1:1';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test.each(['start', 'org list'])(
  '%s reports all configuration errors at once, and creates nothing',
  async (command) => {
    const dataDir = join(await temporaryFolder(), 'data');
    const wrong = { LECTERN_DATA_DIR: dataDir, PORT: 'many', LOG_LEVEL: 'loud', NODE_ENV: 'production' };
    const { code, stdout, stderr } = await lectern(wrong, ...command.split(' '));
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
    const [title, ...faults] = stderr.trimEnd().split('\n');
    expect(title).toBe('lectern: The configuration is not valid:');
    expect(faults.sort()).toStrictEqual([
      expect.stringMatching(/^ {2}LECTERN_ASSET_SECRET is required/),
      expect.stringMatching(/^ {2}LECTERN_COOKIE_SECRET is required/),
      expect.stringMatching(/^ {2}LECTERN_KEY_PEPPER is required/),
      expect.stringMatching(/^ {2}LECTERN_SIGNING_SECRETS is required/),
      expect.stringMatching(/^ {2}LOG_LEVEL must be/),
      expect.stringMatching(/^ {2}MONGODB_URI is required/),
      expect.stringMatching(/^ {2}PORT must be/),
      expect.stringMatching(/^ {2}PUBLIC_URL is required/),
      expect.stringMatching(/^ {2}REDIS_URL is required/),
    ]);
    expect(existsSync(dataDir)).toBe(false);
  },
);

test('a .env file is read, and the environment wins over it', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, '.env'), 'PORT=many\nLOG_LEVEL=loud\n');
  const command = [...lecternCommand, 'org', 'list'];
  const { code, stderr } = await startCommand(command, { PORT: '3000' }, folder).finished;
  expect(stderr).toBe(
    'lectern: The configuration is not valid:\n  LOG_LEVEL must be one of silent, error, warn, info, debug\n',
  );
  expect(code).toBe(1);
});

test('an unreachable MongoDB is reported without its password, and stdout stays empty', async () => {
  const environment = { MONGODB_URI: noMongo, REDIS_URL: inject('redisUrl') };
  const { code, stdout, stderr } = await lectern(environment, 'org', 'list', '--json');
  expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /^lectern: MongoDB at mongodb:\/\/127\.0\.0\.1:1\/lectern does not answer .*MONGODB_URI\.\n$/,
  );
});

test.each([
  ['replicaSett=rs0', 'option replicasett is not supported'],
  ['readPreference=nearby', 'Invalid read preference mode "nearby"'],
  ['maxPoolSize=-1', 'maxPoolSize can only be a positive int value, got: -1'],
  ['tlsCertificateKeyFilePassword=a&hunter2=b', 'its options contain a secret, so the reason is not shown'],
])(
  "an error for a connection string with %s has the driver's reason and no secret",
  async (options, reason) => {
    const environment = { MONGODB_URI: `${noMongo}?${options}`, REDIS_URL: inject('redisUrl') };
    const { code, stdout, stderr } = await lecternHere(environment, 'org', 'list');
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `lectern: The MongoDB driver rejects MONGODB_URI (${reason}). Correct it: its options follow the "?".\n`,
    );
  },
);

test('start reports everything that is missing at once, and each item once', async () => {
  const dataDir = await temporaryFolder();
  await writeFile(join(dataDir, 'store'), 'a file where a folder should be');
  const environment = { MONGODB_URI: noMongo, REDIS_URL: noRedis, LECTERN_DATA_DIR: dataDir };
  const { code, stdout, stderr } = await lectern(environment, 'start');
  expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
  expect(
    stderr
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace('lectern: ', '')),
  ).toStrictEqual([
    expect.stringMatching(/^Generated secrets for settings that are not set, .*LECTERN_KEY_PEPPER/),
    expect.stringMatching(/^The store in .* cannot be written to/),
    expect.stringMatching(/^MongoDB at .* does not answer/),
    expect.stringMatching(/^Redis at redis:\/\/127\.0\.0\.1:1 does not answer .*REDIS_URL/),
  ]);
  expect(stderr).not.toContain('hunter2');
});

test.each(['start', 'org list'])('%s reports a data directory that is not writable', async (command) => {
  const file = join(await temporaryFolder(), 'file');
  await writeFile(file, '');
  const environment = { LECTERN_DATA_DIR: join(file, 'data') };
  const { code, stdout, stderr } = await lectern(environment, ...command.split(' '));
  expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^lectern: The data directory \S+ cannot be written to .*LECTERN_DATA_DIR/);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('doctor reports each failing dependency and its solution in its result', async () => {
  const dataDir = await temporaryFolder();
  const environment = {
    MONGODB_URI: noMongo,
    REDIS_URL: inject('redisUrl'),
    LECTERN_DATA_DIR: dataDir,
    PUBLIC_URL: 'https://lectern.example',
  };
  const { code, stdout, stderr } = await lectern(environment, 'doctor', '--json');
  expect({ code, stderr }).toStrictEqual({ code: 1, stderr: '' });
  const { ok, checks } = JSON.parse(stdout) as {
    ok: boolean;
    checks: { name: string; ok: boolean; message: string }[];
  };
  expect(ok).toBe(false);
  // Lectern does not serve HTTPS itself.
  expect(checks.find(({ name }) => name === 'API')?.message).toContain('TRUST_PROXY is 0');
  expect(checks.filter((check) => !check.ok)).toStrictEqual([
    { name: 'MongoDB', ok: false, version: null, message: expect.stringContaining('MONGODB_URI') as string },
    {
      name: 'workers',
      ok: false,
      version: null,
      message: expect.stringContaining('no worker is running') as string,
    },
  ]);
  expect(checks.map((check) => check.name)).toStrictEqual([
    'Node.js',
    'settings',
    'MongoDB',
    'Redis',
    'workers',
    'API',
    'store',
    'core widgets',
    'player',
  ]);
});

test('a reader that closes the pipe early is no failure', async () => {
  const command = ['/bin/sh', '-c', `"$@" | true`, 'sh', ...lecternCommand, '--help'];
  const { stderr } = await startCommand(command, {}).finished;
  expect(stderr).toBe('');
});
