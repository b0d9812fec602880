import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../../shared/platform/config.ts';
import { packageRoot } from '../../../shared/platform/paths.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { bucket, faultsOf, production } from './environments.ts';

/** Settings without a default, for which .env.example has an example. */
const settingsWithExamples = [
  ...['PUBLIC_URL', 'MONGODB_URI', 'REDIS_URL', 'S3_ENDPOINT', 'LECTERN_SIGNING_SECRETS', 'WORKER_PORT'],
  ...['LECTERN_ALLOWED_ORIGINS', 'LECTERN_ALLOWED_PRIVATE_HOSTS', 'METRICS_PORT'],
];

describe('defaults', () => {
  test('an empty environment gives a configuration for this machine only', () => {
    expect(parseConfig({})).toMatchObject({
      ...{ production: false, host: '127.0.0.1', isLocal: true, publicUrl: undefined, trustProxy: 0 },
      ...{ sendfileHeader: undefined, mongodbUri: undefined, redisUrl: undefined, admin: undefined },
      ...{ keyPepper: undefined, signingSecrets: undefined, assetSecret: undefined, cookieSecret: undefined },
      ...{ allowedOrigins: [], metricsPort: undefined, startedByNpm: false },
      ...{ dataDir: resolve('.lectern'), cacheDir: join(homedir(), '.cache', 'lectern') },
      download: { allowedPrivateHosts: [] },
      worker: { port: undefined },
    });
  });

  test('each value in .env.example is the default, except the examples', async () => {
    const text = await readFile(join(packageRoot, '.env.example'), 'utf8');
    const lines = [...text.matchAll(/^#([A-Z_\d]+)=(.*)$/gm)];
    const defaults = Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value]));
    expect(Object.keys(defaults).length).toBeGreaterThan(50);
    for (const name of settingsWithExamples) delete defaults[name];
    expect(parseConfig(defaults)).toStrictEqual(parseConfig({}));
  });

  test('in production the API listens on all addresses unless HOST is set', () => {
    expect(parseConfig(production).host).toBe('0.0.0.0');
    expect(parseConfig({ ...production, HOST: '127.0.0.1' }).host).toBe('127.0.0.1');
  });

  test.each([
    [{}, true],
    [{ PUBLIC_URL: 'http://localhost:3000' }, true],
    [{ PUBLIC_URL: 'https://lectern.example' }, false],
    [{ HOST: '0.0.0.0' }, false],
    [{ TRUST_PROXY: '1' }, false],
  ])('with %j, only this machine reaches Lectern: %s', (environment, isLocal) => {
    expect(parseConfig(environment).isLocal).toBe(isLocal);
  });

  test('an empty value counts as not set', () => {
    const names = ['PORT', 'HOST', 'MONGODB_URI', 'LECTERN_KEY_PEPPER', 'ADMIN_PASSWORD', 'XDG_CACHE_HOME'];
    expect(parseConfig(Object.fromEntries(names.map((name) => [name, ''])))).toStrictEqual(parseConfig({}));
  });
});

describe('settings that depend on each other', () => {
  test('the queue board needs both a name and a password', () => {
    expect(faultsOf({ ADMIN_USERNAME: 'a' })).toStrictEqual([
      'ADMIN_PASSWORD must be set when ADMIN_USERNAME is',
    ]);
    expect(faultsOf({ ADMIN_PASSWORD: 'a password of 28 characters.' })).toStrictEqual([
      'ADMIN_USERNAME must be set when ADMIN_PASSWORD is',
    ]);
    const { admin } = parseConfig({ ADMIN_USERNAME: 'a', ADMIN_PASSWORD: 'a password of 28 characters.' });
    expect(admin).toStrictEqual({ username: 'a', password: 'a password of 28 characters.' });
  });

  test('a proxy can send files of a folder, and with X-Accel-Redirect those of a bucket', () => {
    const sendfile = { SENDFILE_HEADER: 'X-Sendfile' };
    expect(faultsOf({ ...sendfile, TRUST_PROXY: '1' })).toStrictEqual([]);
    expect(faultsOf({ SENDFILE_HEADER: 'x-sendfile', TRUST_PROXY: '1' })).toStrictEqual([
      'SENDFILE_HEADER must be one of X-Accel-Redirect, X-Sendfile',
    ]);
    expect(faultsOf({ ...sendfile, ...bucket })).toStrictEqual([
      'SENDFILE_HEADER needs TRUST_PROXY of 1 or more, because a proxy sends the files',
      'SENDFILE_HEADER must be X-Accel-Redirect with STORE=s3: X-Sendfile names files of a folder',
    ]);
    expect(faultsOf({ SENDFILE_HEADER: 'X-Accel-Redirect', TRUST_PROXY: '1', ...bucket })).toStrictEqual([]);
  });

  test('a bucket needs its name and, outside Amazon, both keys; the error lists everything missing', () => {
    expect(faultsOf(bucket)).toStrictEqual([]);
    expect(faultsOf({ STORE: 's3', S3_ENDPOINT: 'http://127.0.0.1:9000' })).toStrictEqual([
      'S3_BUCKET is required with STORE=s3',
      'S3_ACCESS_KEY_ID is required with S3_ENDPOINT or S3_SECRET_ACCESS_KEY',
      'S3_SECRET_ACCESS_KEY is required with S3_ENDPOINT or S3_ACCESS_KEY_ID',
    ]);
    expect(faultsOf({ ...bucket, S3_ENDPOINT: '', S3_ACCESS_KEY_ID: '' })).toStrictEqual([
      'S3_ACCESS_KEY_ID is required with S3_ENDPOINT or S3_SECRET_ACCESS_KEY',
    ]);
    // Without keys, the role of the machine counts.
    expect(faultsOf({ STORE: 's3', S3_BUCKET: 'lectern' })).toStrictEqual([]);
    // With STORE=disk, they have no effect.
    expect(parseConfig({ ...bucket, STORE: 'disk' }).store).toStrictEqual({ kind: 'disk' });
  });

  test('URLs have the bucket in their path outside Amazon, unless set otherwise', () => {
    expect(parseConfig(bucket).store).toStrictEqual({
      kind: 's3',
      endpoint: 'http://127.0.0.1:9000',
      bucket: 'lectern',
      region: 'us-east-1',
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      prefix: '',
      forcePathStyle: true,
      presignedReads: false,
    });
    expect(parseConfig({ STORE: 's3', S3_BUCKET: 'lectern' }).store).toMatchObject({ forcePathStyle: false });
    expect(parseConfig({ ...bucket, S3_FORCE_PATH_STYLE: 'false' }).store).toMatchObject({
      forcePathStyle: false,
    });
  });

  test.each([
    ['LECTERN_KEY_PEPPER', ''],
    ['LECTERN_SIGNING_SECRETS', ', in the form kid:secret'],
    ['LECTERN_ASSET_SECRET', ''],
    ['LECTERN_COOKIE_SECRET', ''],
  ])('production requires %s', (name, form) => {
    expect(faultsOf({ ...production, [name]: undefined })).toStrictEqual([
      `${name} is required with NODE_ENV=production (make one with: openssl rand -hex 32${form})`,
    ]);
    expect(faultsOf(production)).toStrictEqual([]);
  });

  test.each(['PUBLIC_URL', 'MONGODB_URI', 'REDIS_URL'])('production requires %s', (name) => {
    expect(faultsOf({ ...production, [name]: undefined })).toStrictEqual([
      expect.stringMatching(new RegExp(`^${name} is required with NODE_ENV=production \\(.*://`)),
    ]);
  });
});

test('faults contain no values, which may be secrets', () => {
  const secrets = {
    LECTERN_KEY_PEPPER: 'hunter2',
    LECTERN_SIGNING_SECRETS: 'main:hunter3,hunter4',
    LECTERN_ASSET_SECRET: 'hunter5',
    LECTERN_COOKIE_SECRET: 'hunter6',
    ADMIN_PASSWORD: 'pass',
    S3_ENDPOINT: 'me:word2@host',
    MONGODB_URI: 'me:word@host',
    REDIS_URL: 'redis://me:wo@rd/word@host/keys',
  };
  const told = faultsOf(secrets).join('\n');
  for (const [name, secret] of Object.entries(secrets)) {
    expect(told).toContain(name);
    expect(told).not.toContain(secret);
  }
});

describe('a secret in a file', () => {
  const secrets = ['MONGODB_URI', 'REDIS_URL', 'LECTERN_KEY_PEPPER', 'LECTERN_SIGNING_SECRETS'] as const;

  test('counts like the setting, without the line break at its end', async () => {
    const folder = await temporaryFolder();
    const files = secrets.map(async (name) => {
      const path = join(folder, name);
      await writeFile(path, `${production[name]}\n`);
      return [`${name}_FILE`, path] as const;
    });
    const inFiles = Object.fromEntries(await Promise.all(files));
    const others = Object.entries(production).filter(([name]) => !secrets.includes(name as 'REDIS_URL'));
    expect(parseConfig({ ...Object.fromEntries(others), ...inFiles })).toStrictEqual(parseConfig(production));
  });

  test('must be readable, not empty, and the only value', async () => {
    const empty = join(await temporaryFolder(), 'empty');
    await writeFile(empty, '\n');
    const faults = faultsOf({
      ...production,
      REDIS_URL: undefined,
      REDIS_URL_FILE: '/no/such/file',
      LECTERN_ASSET_SECRET: undefined,
      LECTERN_ASSET_SECRET_FILE: empty,
      LECTERN_KEY_PEPPER_FILE: empty,
    });
    expect(faults).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^REDIS_URL_FILE cannot be read: ENOENT/),
        'LECTERN_ASSET_SECRET_FILE names an empty file',
        'LECTERN_KEY_PEPPER_FILE must not be set when LECTERN_KEY_PEPPER is',
      ]),
    );
  });
});
