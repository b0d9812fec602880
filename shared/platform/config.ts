import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readEnvironmentFile } from './environment-file.ts';
import { mongodbFault, redisFault } from './server-urls.ts';
import {
  baseUrl,
  choice,
  flag,
  hostList,
  integer,
  number,
  originList,
  secret,
  serverAddress,
  signingSecrets,
  url,
  warnOfUnknownSettings,
} from './setting-forms.ts';

const KiB = 1024;
const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

/** Settings are compared also where another one is wrong, so that all faults are told at once. */
const always = () => true;

/** Elsewhere they are made at the first start and kept in the data directory: secrets.ts. */
const secretsOfProduction = [
  'LECTERN_KEY_PEPPER',
  'LECTERN_SIGNING_SECRETS',
  'LECTERN_ASSET_SECRET',
  'LECTERN_COOKIE_SECRET',
] as const;

/** What production cannot guess: elsewhere there are embedded servers, and the Host of each request. */
const addressesOfProduction = {
  MONGODB_URI: 'the embedded server has no password: mongodb://host:27017/lectern',
  REDIS_URL: 'the embedded server has no password and does not persist data: redis://host:6379',
  PUBLIC_URL: 'the URL that browsers use: https://lectern.example.com, for a trial http://localhost:3000',
} as const;

/** The settings, named as in the environment. `.env.example` explains each to an operator. */
const environmentSchema = z
  .object({
    NODE_ENV: choice(['development', 'production', 'test'], 'development'),
    HOST: z.string().min(1).optional(),
    PORT: integer(3000, 0, 65_535),
    PUBLIC_URL: baseUrl.optional(),
    TRUST_PROXY: integer(0, 0, 16),
    LOG_LEVEL: choice(['silent', 'error', 'warn', 'info', 'debug'], 'info'),
    MONGODB_URI: serverAddress(['mongodb:', 'mongodb+srv:'], mongodbFault).optional(),
    REDIS_URL: serverAddress(['redis:', 'rediss:'], redisFault).optional(),
    REDIS_PREFIX: z
      .string()
      .regex(/^[\w-]+$/, 'may hold letters, digits, - and _ only')
      .default('lectern'),
    LECTERN_DATA_DIR: z.string().min(1).default('.lectern'),
    LECTERN_STORE_DIR: z.string().min(1).optional(),
    STORE: choice(['disk', 's3'], 'disk'),
    S3_ENDPOINT: url(['http:', 'https:']).optional(),
    S3_BUCKET: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        'must be the name of a bucket: 3 to 63 of a-z, 0-9, . and -',
      )
      .optional(),
    S3_REGION: z
      .string()
      .regex(/^[a-z0-9-]+$/, 'must be the name of a region, such as eu-central-1')
      .default('us-east-1'),
    S3_ACCESS_KEY_ID: z.string().min(1).optional(),
    S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
    S3_PREFIX: z
      .string()
      .regex(
        /^[\w.-]+(\/[\w.-]+)*\/?$/,
        'must be names of letters, digits, ".", "_" and "-", with / between them',
      )
      .default(''),
    S3_FORCE_PATH_STYLE: flag.optional(),
    S3_PRESIGNED_READS: flag.default(false),
    STORE_MAX_BYTES: number(0, Number.MAX_SAFE_INTEGER).optional(),
    STORE_MAX_AGE: integer(720, 0, 24 * 3650),
    LECTERN_KEY_PEPPER: secret.optional(),
    LECTERN_SIGNING_SECRETS: signingSecrets.optional(),
    LECTERN_ASSET_SECRET: secret.optional(),
    LECTERN_COOKIE_SECRET: secret.optional(),
    LECTERN_ALLOWED_ORIGINS: originList,
    SESSION_HOURS: integer(12, 1, 24 * 30),
    LOGIN_TRIES: integer(10, 1, 1000),
    RATE_LIMIT_PER_KEY: integer(6000, 0, 10_000_000),
    RATE_LIMIT_PER_ADDRESS: integer(6000, 0, 10_000_000),
    REQUEST_TIMEOUT_SECONDS: integer(30, 1, 3600),
    PLAYER_CACHE_BYTES: integer(64 * MiB, MiB, Number.MAX_SAFE_INTEGER),
    ADMIN_USERNAME: z.string().min(1).optional(),
    ADMIN_PASSWORD: z
      .string()
      .min(16, 'must be at least 16 characters (make one with: openssl rand -base64 24)')
      .optional(),
    EXPORT_WAIT_SECONDS: integer(300, 1, 3600),
    EXPORT_WAITS_PER_ORGANIZATION: integer(1_000, 1, 100_000),
    EXPORT_MAX_BYTES: integer(8 * GiB, 1, Number.MAX_SAFE_INTEGER),
    EXPORT_BUILD_SECONDS: integer(3600, 1, 86_400),
    DEGRADED_EXPORT_SECONDS: integer(60, 0, 86_400),
    EXPORT_PREBUILD: flag.default(false),
    MEDIA_MAX_BYTES: integer(512 * MiB, 1, Number.MAX_SAFE_INTEGER),
    DOWNLOAD_CONCURRENCY: integer(8, 1, 256),
    DOWNLOAD_CONCURRENCY_PER_HOST: integer(6, 1, 256),
    DOWNLOAD_TIMEOUT_SECONDS: integer(60, 1, 3600),
    DOWNLOAD_MIN_BYTES_PER_SECOND: integer(16 * KiB, 0, Number.MAX_SAFE_INTEGER),
    DOWNLOAD_DEADLINE_SECONDS: number(1, 86_400).optional(),
    MEDIA_FRESH_HOURS: integer(6, 0, 24 * 30),
    LECTERN_ALLOWED_PRIVATE_HOSTS: hostList,
    WORKER_CONCURRENCY: integer(2, 1, 64),
    WORKER_LOCK_SECONDS: integer(30, 2, 600),
    WORKER_WATCHDOG_SECONDS: integer(60, 0, 3600),
    WORKER_PORT: number(0, 65_535).optional(),
    METRICS_PORT: number(0, 65_535).optional(),
    SHUTDOWN_SECONDS: integer(30, 1, 600),
    XDG_CACHE_HOME: z.string().optional(),
    npm_lifecycle_event: z.string().optional(),
  })
  .refine((env) => env.ADMIN_PASSWORD === undefined || env.ADMIN_USERNAME !== undefined, {
    path: ['ADMIN_USERNAME'],
    message: 'must be set when ADMIN_PASSWORD is',
    when: always,
  })
  .refine((env) => env.ADMIN_USERNAME === undefined || env.ADMIN_PASSWORD !== undefined, {
    path: ['ADMIN_PASSWORD'],
    message: 'must be set when ADMIN_USERNAME is',
    when: always,
  })
  .superRefine(
    (env, context) => {
      if (env.STORE !== 's3') return;
      const required = (name: keyof typeof env, message: string) => {
        if (env[name] === undefined) context.addIssue({ code: 'custom', path: [name], message });
      };
      required('S3_BUCKET', 'is required with STORE=s3');
      // Without keys the roles of Amazon's machines are used, which no other service has.
      const withKey = env.S3_ENDPOINT !== undefined || env.S3_SECRET_ACCESS_KEY !== undefined;
      const withSecret = env.S3_ENDPOINT !== undefined || env.S3_ACCESS_KEY_ID !== undefined;
      if (withKey) required('S3_ACCESS_KEY_ID', 'is required with S3_ENDPOINT or S3_SECRET_ACCESS_KEY');
      if (withSecret) required('S3_SECRET_ACCESS_KEY', 'is required with S3_ENDPOINT or S3_ACCESS_KEY_ID');
    },
    { when: always },
  )
  .superRefine(
    (env, context) => {
      if (env.NODE_ENV !== 'production') return;
      for (const [name, why] of Object.entries(addressesOfProduction)) {
        if (env[name as keyof typeof addressesOfProduction] !== undefined) continue;
        const message = `is required with NODE_ENV=production (${why})`;
        context.addIssue({ code: 'custom', path: [name], message });
      }
      for (const name of secretsOfProduction) {
        if (env[name] !== undefined) continue;
        const form = name === 'LECTERN_SIGNING_SECRETS' ? ', in the form kid:secret' : '';
        const message = `is required with NODE_ENV=production (make one with: openssl rand -hex 32${form})`;
        context.addIssue({ code: 'custom', path: [name], message });
      }
    },
    { when: always },
  );

type Environment = z.output<typeof environmentSchema>;

/** Where files are kept: a folder, or a bucket of an S3-compatible service. */
export type StoreSettings =
  | { kind: 'disk' }
  | {
      kind: 's3';
      /** Undefined for Amazon's own. */
      endpoint: string | undefined;
      bucket: string;
      region: string;
      /** Undefined for the role of the machine. */
      accessKeyId: string | undefined;
      secretAccessKey: string | undefined;
      /** Before all names in the bucket; empty, or with a slash at its end. */
      prefix: string;
      /** Whether the bucket is named in paths instead of host names. */
      forcePathStyle: boolean;
      /** Whether readers may be sent to the bucket itself. */
      presignedReads: boolean;
    };

function toStore(env: Environment): StoreSettings {
  if (env.STORE === 'disk' || env.S3_BUCKET === undefined) return { kind: 'disk' };
  return {
    kind: 's3',
    endpoint: env.S3_ENDPOINT,
    bucket: env.S3_BUCKET,
    region: env.S3_REGION,
    accessKeyId: env.S3_ACCESS_KEY_ID,
    secretAccessKey: env.S3_SECRET_ACCESS_KEY,
    prefix: env.S3_PREFIX.replace(/([^/])$/, '$1/'),
    forcePathStyle: env.S3_FORCE_PATH_STYLE ?? env.S3_ENDPOINT !== undefined,
    presignedReads: env.S3_PRESIGNED_READS,
  };
}

/** Large files get the time that they take at 2 Mbit/s, all others ten minutes. */
function deadlineFor(maxBytes: number): number {
  return Math.min(Math.max(600, Math.ceil(maxBytes / (256 * KiB))), 86_400);
}

function toConfig(env: Environment) {
  const dataDir = resolve(env.LECTERN_DATA_DIR);
  const production = env.NODE_ENV === 'production';
  return {
    production,
    /** In production the container or platform decides who reaches the port; elsewhere only this machine does. */
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: env.PORT,
    publicUrl: env.PUBLIC_URL,
    trustProxy: env.TRUST_PROXY,
    logLevel: env.LOG_LEVEL,
    mongodbUri: env.MONGODB_URI,
    redisUrl: env.REDIS_URL,
    redisPrefix: env.REDIS_PREFIX,
    dataDir,
    storeDir: resolve(env.LECTERN_STORE_DIR ?? join(dataDir, 'store')),
    store: toStore(env),
    /** Of archives and downloaded files together; 0 for no limit, undefined for shared/storage/store-limits.ts. */
    storeLimits: { maxBytes: env.STORE_MAX_BYTES, maxAgeHours: env.STORE_MAX_AGE },
    /** Where fetched server binaries are kept, shared by all data directories of this user. */
    cacheDir: join(
      env.XDG_CACHE_HOME === undefined || env.XDG_CACHE_HOME === ''
        ? join(homedir(), '.cache')
        : env.XDG_CACHE_HOME,
      'lectern',
    ),
    keyPepper: env.LECTERN_KEY_PEPPER,
    /** The first signs, all verify; empty where embed tokens are turned off. */
    signingSecrets: env.LECTERN_SIGNING_SECRETS,
    assetSecret: env.LECTERN_ASSET_SECRET,
    cookieSecret: env.LECTERN_COOKIE_SECRET,
    /** Whose pages may use a user's session. */
    allowedOrigins: env.LECTERN_ALLOWED_ORIGINS,
    session: { hours: env.SESSION_HOURS, loginTries: env.LOGIN_TRIES },
    /** Requests a minute; 0 for no limit. */
    rateLimit: { perKey: env.RATE_LIMIT_PER_KEY, perAddress: env.RATE_LIMIT_PER_ADDRESS },
    /** How long a client may take to send a request. */
    requestSeconds: env.REQUEST_TIMEOUT_SECONDS,
    /** Memory for lessons that are loaded often. */
    playerCacheBytes: env.PLAYER_CACHE_BYTES,
    admin:
      env.ADMIN_USERNAME !== undefined && env.ADMIN_PASSWORD !== undefined
        ? { username: env.ADMIN_USERNAME, password: env.ADMIN_PASSWORD }
        : undefined,
    export: {
      waitSeconds: env.EXPORT_WAIT_SECONDS,
      /** Requests that wait at once in one process. */
      waitsPerOrganization: env.EXPORT_WAITS_PER_ORGANIZATION,
      maxBytes: env.EXPORT_MAX_BYTES,
      buildSeconds: env.EXPORT_BUILD_SECONDS,
      degradedSeconds: env.DEGRADED_EXPORT_SECONDS,
      /** Whether publishing a version has its archive built. */
      prebuild: env.EXPORT_PREBUILD,
    },
    download: {
      maxBytes: env.MEDIA_MAX_BYTES,
      concurrency: env.DOWNLOAD_CONCURRENCY,
      concurrencyPerHost: env.DOWNLOAD_CONCURRENCY_PER_HOST,
      timeoutSeconds: env.DOWNLOAD_TIMEOUT_SECONDS,
      /** On average over `timeoutSeconds`; 0 for no minimum. */
      minBytesPerSecond: env.DOWNLOAD_MIN_BYTES_PER_SECOND,
      /** Of one file, over all tries. */
      deadlineSeconds: env.DOWNLOAD_DEADLINE_SECONDS ?? deadlineFor(env.MEDIA_MAX_BYTES),
      allowedPrivateHosts: env.LECTERN_ALLOWED_PRIVATE_HOSTS,
    },
    /** How long learners get a downloaded file without its origin being asked. */
    mediaFreshHours: env.MEDIA_FRESH_HOURS,
    worker: {
      concurrency: env.WORKER_CONCURRENCY,
      lockSeconds: env.WORKER_LOCK_SECONDS,
      /** 0 for none. */
      watchdogSeconds: env.WORKER_WATCHDOG_SECONDS,
      /** Of a worker's health checks and metrics; undefined for none. */
      port: env.WORKER_PORT,
    },
    /** Of the API's metrics; undefined for none. */
    metricsPort: env.METRICS_PORT,
    shutdownSeconds: env.SHUTDOWN_SECONDS,
    /** npm is killed without a word to what it started; see cli/terminal/interrupts.ts. */
    startedByNpm: env.npm_lifecycle_event !== undefined,
  };
}

/** The settings of one process: read once, checked, frozen. Bytes are bytes, times are seconds. */
export type Config = Readonly<ReturnType<typeof toConfig>>;

/** The environment does not make a valid configuration; `faults` has one line for each thing wrong. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: string[];

  constructor(faults: string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * Checks an environment and gives the configuration it makes. An empty value counts as not set, as in a Compose
 * file. Nothing is connected or written.
 *
 * @throws {ConfigError} naming every fault at once.
 */
export function parseConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`));
  }
  const config = toConfig(parsed.data);
  for (const group of Object.values(config)) Object.freeze(group);
  return Object.freeze(config);
}

/** The configuration of this process: a `.env` file in the working directory, overruled by the environment. */
export function loadConfig(): Config {
  for (const [name, value] of Object.entries(readEnvironmentFile('.env'))) process.env[name] ??= value;
  // Amazon's client warns of Node.js 20 on standard error; which one Lectern needs it says itself.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  return parseConfig(process.env);
}

/** The names of all settings. */
export const settingNames: readonly string[] = Object.keys(environmentSchema.shape).filter(
  (name) => name !== 'npm_lifecycle_event',
);

/** Returns a sentence for each variable of this process that looks like a setting and is none. */
export function settingWarnings(): string[] {
  return warnOfUnknownSettings(Object.keys(process.env), settingNames);
}

/** An environment for a child process: this one's, with some settings replaced. */
export function childEnvironment(settings: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...settings };
}
