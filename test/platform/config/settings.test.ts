import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../../shared/platform/config.ts';
import { bucket, faultsOf, production } from './environments.ts';

describe('whole numbers', () => {
  const maximum = Number.MAX_SAFE_INTEGER;
  test.each([
    ['PORT', 0, 65_535, (config) => config.port],
    ['TRUST_PROXY', 0, 16, (config) => config.trustProxy],
    ['SESSION_HOURS', 1, 720, (config) => config.session.hours],
    ['LOGIN_TRIES', 1, 1000, (config) => config.session.loginTries],
    ['RATE_LIMIT_PER_KEY', 0, 10_000_000, (config) => config.rateLimit.perKey],
    ['RATE_LIMIT_PER_ADDRESS', 0, 10_000_000, (config) => config.rateLimit.perAddress],
    ['REQUEST_TIMEOUT_SECONDS', 1, 3600, (config) => config.requestSeconds],
    ['KEEP_ALIVE_SECONDS', 1, 3600, (config) => config.keepAliveSeconds],
    ['PLAYER_CACHE_BYTES', 1024 ** 2, maximum, (config) => config.playerCacheBytes],
    ['EXPORT_WAIT_SECONDS', 1, 3600, (config) => config.export.waitSeconds],
    ['EXPORT_WAITS_PER_ORGANIZATION', 1, 100_000, (config) => config.export.waitsPerOrganization],
    ['EXPORT_MAX_BYTES', 1, maximum, (config) => config.export.maxBytes],
    ['EXPORT_BUILD_SECONDS', 1, 86_400, (config) => config.export.buildSeconds],
    ['DEGRADED_EXPORT_SECONDS', 0, 86_400, (config) => config.export.degradedSeconds],
    ['MEDIA_MAX_BYTES', 1, maximum, (config) => config.download.maxBytes],
    ['DOWNLOAD_CONCURRENCY', 1, 256, (config) => config.download.concurrency],
    ['DOWNLOAD_CONCURRENCY_PER_HOST', 1, 256, (config) => config.download.concurrencyPerHost],
    ['DOWNLOAD_TIMEOUT_SECONDS', 1, 3600, (config) => config.download.timeoutSeconds],
    ['DOWNLOAD_MIN_BYTES_PER_SECOND', 0, maximum, (config) => config.download.minBytesPerSecond],
    ['DOWNLOAD_DEADLINE_SECONDS', 1, 86_400, (config) => config.download.deadlineSeconds],
    ['MEDIA_FRESH_HOURS', 0, 720, (config) => config.mediaFreshHours],
    ['WORKER_CONCURRENCY', 1, 64, (config) => config.worker.concurrency],
    ['WORKER_IMPORT_CONCURRENCY', 0, 64, (config) => config.worker.importConcurrency],
    ['IMPORTS_PER_ORGANIZATION', 1, 1000, (config) => config.import.perOrganization],
    ['IMPORT_UPLOAD_HOURS', 1, 720, (config) => config.import.uploadHours],
    ['ORGANIZATION_MAX_BYTES', 0, maximum, (config) => config.import.maxStoredBytes],
    ['WORKER_LOCK_SECONDS', 2, 600, (config) => config.worker.lockSeconds],
    ['WORKER_WATCHDOG_SECONDS', 0, 3600, (config) => config.worker.watchdogSeconds],
    ['WORKER_PORT', 0, 65_535, (config) => config.worker.port ?? NaN],
    ['METRICS_PORT', 0, 65_535, (config) => config.metricsPort ?? NaN],
    ['SHUTDOWN_SECONDS', 1, 600, (config) => config.shutdownSeconds],
  ] satisfies [string, number, number, (config: ReturnType<typeof parseConfig>) => number][])(
    '%s accepts %i to %i and nothing else',
    (name, min, max, read) => {
      expect(read(parseConfig({ [name]: String(min) }))).toBe(min);
      expect(read(parseConfig({ [name]: String(max) }))).toBe(max);
      const fault = `${name} must be a whole number between ${min} and ${max}`;
      for (const wrong of [String(min - 1), `${max}0`, '1.5', '1e2', '0x10', ' 1', 'many']) {
        expect(faultsOf({ [name]: wrong }), wrong).toStrictEqual([fault]);
      }
    },
  );
});

describe('texts', () => {
  const ringFormat =
    'must be a comma-separated list of kid:secret; a kid has letters, digits, ".", "_" and "-"';
  const plainUrl = 'must be a URL without a user name, a password, a query (?) and a fragment (#)';
  const shortSecret = 'must have secrets of at least 32 bytes (make one with: openssl rand -hex 32)';
  const originFormat = 'must be a comma-separated list of origins, such as https://app.example';
  test.each([
    ['NODE_ENV', 'staging', 'must be one of development, production, test'],
    ['LOG_LEVEL', 'INFO', 'must be one of silent, error, warn, info, debug'],
    ['TWO_STEP_LOGIN', 'all', 'must be one of optional, operators, admins'],
    ['STORE', 'ftp', 'must be one of disk, s3'],
    ['S3_ENDPOINT', 'localhost:9000', 'must be a URL that begins with http:// or https://'],
    ['S3_BUCKET', 'My_Bucket', 'must be the name of a bucket: 3 to 63 of a-z, 0-9, . and -'],
    ['S3_REGION', 'eu central', 'must be the name of a region, such as eu-central-1'],
    ['S3_PREFIX', '/lectern', 'must be names of letters, digits, ".", "_" and "-", with / between them'],
    ['S3_FORCE_PATH_STYLE', '2', 'must be true or false'],
    ['S3_PRESIGNED_READS', 'yes', 'must be true or false'],
    ['CONSOLE', 'off', 'must be true or false'],
    ['PUBLIC_URL', 'ftp://a.example', 'must be a URL that begins with http:// or https://'],
    ['PUBLIC_URL', 'a.example', 'must be a URL that begins with http:// or https://'],
    ['PUBLIC_URL', 'https://a.example/?q', plainUrl],
    ['PUBLIC_URL', 'https://a.example/#f', plainUrl],
    ['PUBLIC_URL', 'https://user:secret@a.example', plainUrl],
    ['MONGODB_URI', 'http://x', 'must be a URL that begins with mongodb:// or mongodb+srv://'],
    ['REDIS_URL', 'localhost:6379', 'must be a URL that begins with redis:// or rediss://'],
    ['REDIS_PREFIX', 'a:b', 'may hold letters, digits, - and _ only'],
    ['LECTERN_KEY_PEPPER', 'x'.repeat(31), 'must be at least 32 bytes'],
    ['LECTERN_ASSET_SECRET', 'x'.repeat(31), 'must be at least 32 bytes'],
    ['LECTERN_COOKIE_SECRET', 'x'.repeat(31), 'must be at least 32 bytes'],
    ['LECTERN_SIGNING_SECRETS', 'x'.repeat(64), ringFormat],
    ['LECTERN_SIGNING_SECRETS', `:${'x'.repeat(32)}`, ringFormat],
    ['LECTERN_SIGNING_SECRETS', `a b:${'x'.repeat(32)}`, ringFormat],
    ['LECTERN_SIGNING_SECRETS', `a:${'x'.repeat(32)},`, ringFormat],
    ['LECTERN_SIGNING_SECRETS', `a:${'x'.repeat(32)},b:short`, shortSecret],
    ['LECTERN_SIGNING_SECRETS', `a:${'x'.repeat(32)},a:${'y'.repeat(32)}`, 'must name each kid once'],
    ['LECTERN_ALLOWED_ORIGINS', 'app.example', originFormat],
    ['LECTERN_ALLOWED_ORIGINS', '*', originFormat],
    ['LECTERN_ALLOWED_ORIGINS', 'null', originFormat],
    ['LECTERN_ALLOWED_ORIGINS', 'https://app.example/', originFormat],
    ['LECTERN_ALLOWED_ORIGINS', 'https://App.example', originFormat],
    ['HTTP_PROXY', 'proxy:3128', 'must be a URL that begins with http:// or https://'],
    ['HTTPS_PROXY', 'socks5://proxy:1080', 'must be a URL that begins with http:// or https://'],
    ['LECTERN_ALLOWED_PRIVATE_HOSTS', 'localhost', 'must be a comma-separated list of host:port'],
    ['PUBLIC_URL', 'https://a;b.example', 'must have the name of a host'],
    [
      'LECTERN_ALLOWED_ORIGINS',
      'https://*',
      'must be a comma-separated list of origins, such as https://app.example',
    ],
    ['LECTERN_ALLOWED_PRIVATE_HOSTS', 'http://localhost:80', 'must be a comma-separated list of host:port'],
  ])('%s rejects "%s"', (name, value, fault) => {
    expect(faultsOf({ [name]: value })).toStrictEqual([`${name} ${fault}`]);
  });

  test.each([
    'mongodb://h1:27017,h2:27017,h3:27017/lectern?replicaSet=rs0',
    'mongodb://me:p%40ss@h1,h2/lectern',
    'mongodb+srv://cluster.example/lectern?retryWrites=true',
    'mongodb://[::1]:27017/lectern',
  ])('MONGODB_URI accepts %s', (value) => {
    expect(parseConfig({ MONGODB_URI: value }).mongodbUri).toBe(value);
  });

  test.each([
    ['MONGODB_URI', 'mongodb://host:27017', 'must name the database after the hosts'],
    ['MONGODB_URI', 'mongodb://host/?replicaSet=rs0', 'must name the database after the hosts'],
    ['MONGODB_URI', 'mongodb://me:p@ss@word@host/lectern', 'must be a connection string'],
    ['REDIS_URL', 'redis://host/lectern', 'must name its database by number'],
    ['REDIS_URL', 'redis://host/-1', 'must name its database by number'],
    ['REDIS_URL', 'redis://host/0?db=keys', 'must name its database by number'],
    ['REDIS_URL', 'redis://host:port', 'must be a URL'],
  ])('%s rejects %s', (name, value, fault) => {
    expect(faultsOf({ [name]: value })).toStrictEqual([expect.stringContaining(`${name} ${fault}`)]);
  });

  const redisUrls = ['redis://host', 'redis://host:6379/', 'redis://:p%40ss@host/15', 'rediss://host?db=3'];
  test.each(redisUrls)('REDIS_URL accepts %s', (value) => {
    expect(parseConfig({ REDIS_URL: value }).redisUrl).toBe(value);
  });

  test('PUBLIC_URL is serialized, without slashes at its end', () => {
    const publicUrl = (PUBLIC_URL: string) => parseConfig({ PUBLIC_URL }).publicUrl;
    expect(publicUrl(' HTTPS://A.Example:443/a b ')).toBe('https://a.example/a%20b');
    expect(publicUrl('https://a.example/lectern//')).toBe('https://a.example/lectern');
  });

  test('signing secrets are a list that keeps its order; a secret may hold colons', () => {
    const [first, second] = ['x'.repeat(31) + ':', 'é'.repeat(16)];
    expect(
      parseConfig({ LECTERN_SIGNING_SECRETS: `2026-b:${first}, 2026-a:${second}` }).signingSecrets,
    ).toStrictEqual([
      { kid: '2026-b', secret: first },
      { kid: '2026-a', secret: second },
    ]);
  });

  test('"none" turns embed tokens off', () => {
    expect(parseConfig({ ...production, LECTERN_SIGNING_SECRETS: 'none' }).signingSecrets).toStrictEqual([]);
  });

  test('allowed origins are a list, with room for spaces', () => {
    const { allowedOrigins } = parseConfig({
      LECTERN_ALLOWED_ORIGINS: 'https://app.example, http://localhost:5173 ,',
    });
    expect(allowedOrigins).toStrictEqual(['https://app.example', 'http://localhost:5173']);
  });

  test('the store is in the data directory unless it has its own location', () => {
    expect(parseConfig({ LECTERN_DATA_DIR: '/data' }).storeDir).toBe('/data/store');
    expect(parseConfig({ LECTERN_DATA_DIR: '/data', LECTERN_STORE_DIR: '/big' }).storeDir).toBe('/big');
  });

  test('a prefix of names in the bucket ends with a slash', () => {
    for (const S3_PREFIX of ['lectern/one', 'lectern/one/']) {
      expect(parseConfig({ ...bucket, S3_PREFIX }).store).toMatchObject({ prefix: 'lectern/one/' });
    }
  });
});
