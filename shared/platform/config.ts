import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { isCommonPassword } from './common-passwords.ts';
import { mongodbFault, redisFault } from './server-urls.ts';
import {
  baseUrl,
  choice,
  flag,
  hostList,
  integer,
  number,
  oneOf,
  originList,
  secret,
  serverAddress,
  signingSecrets,
  url,
  warnOfUnknownSettings,
} from './setting-forms.ts';
import { readSecretFiles, secretFileSetting } from './secret-files.ts';
import { productionFaults, secretsOfProduction } from './production-settings.ts';
import { storeFaults, storeSettings, toStore } from './store-settings.ts';
import { codeOf, messageOf } from './errors.ts';

const KiB = 1024;
const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

/** Runs a refinement even if a setting is invalid, so that the error lists all faults at once. */
const always = () => true;

/** The settings, named as in the environment. `.env.example` explains each to an operator. */
const environmentSchema = z
  .object({
    NODE_ENV: choice(['development', 'production', 'test'], 'development'),
    HOST: z.string().min(1).optional(),
    PORT: integer(3000, 0, 65_535),
    PUBLIC_URL: baseUrl.optional(),
    TRUST_PROXY: integer(0, 0, 16),
    SENDFILE_HEADER: oneOf(['X-Accel-Redirect', 'X-Sendfile']).optional(),
    LOG_LEVEL: choice(['silent', 'error', 'warn', 'info', 'debug'], 'info'),
    MONGODB_URI: serverAddress(['mongodb:', 'mongodb+srv:'], mongodbFault).optional(),
    REDIS_URL: serverAddress(['redis:', 'rediss:'], redisFault).optional(),
    REDIS_PREFIX: z
      .string()
      .regex(/^[\w-]+$/, 'may hold letters, digits, - and _ only')
      .default('lectern'),
    LECTERN_DATA_DIR: z.string().min(1).default('.lectern'),
    LECTERN_STORE_DIR: z.string().min(1).optional(),
    ...storeSettings,
    LECTERN_KEY_PEPPER: secret.optional(),
    LECTERN_SIGNING_SECRETS: signingSecrets.optional(),
    LECTERN_ASSET_SECRET: secret.optional(),
    LECTERN_COOKIE_SECRET: secret.optional(),
    LECTERN_ALLOWED_ORIGINS: originList,
    SESSION_HOURS: integer(12, 1, 24 * 30),
    LOGIN_TRIES: integer(10, 1, 1000),
    TWO_STEP_LOGIN: choice(['optional', 'operators', 'admins'], 'optional'),
    RATE_LIMIT_PER_KEY: integer(6000, 0, 10_000_000),
    RATE_LIMIT_PER_ADDRESS: integer(6000, 0, 10_000_000),
    REQUEST_TIMEOUT_SECONDS: integer(30, 1, 3600),
    KEEP_ALIVE_SECONDS: integer(65, 1, 3600),
    PLAYER_CACHE_BYTES: integer(64 * MiB, MiB, Number.MAX_SAFE_INTEGER),
    CONSOLE: flag.default(true),
    ADMIN_USERNAME: z.string().min(1).optional(),
    ADMIN_PASSWORD: z
      .string()
      .min(16, 'must be at least 16 characters (make one with: openssl rand -base64 24)')
      .refine((password) => !isCommonPassword(password), 'is a frequent password: choose another one')
      .optional(),
    EXPORT_WAIT_SECONDS: integer(300, 1, 3600),
    EXPORT_WAITS_PER_ORGANIZATION: integer(1_000, 1, 100_000),
    EXPORT_MAX_BYTES: integer(8 * GiB, 1, Number.MAX_SAFE_INTEGER),
    EXPORT_BUILD_SECONDS: integer(3600, 1, 86_400),
    DEGRADED_EXPORT_SECONDS: integer(60, 0, 86_400),
    EXPORT_PREBUILD: flag.default(false),
    IMPORTS_PER_ORGANIZATION: integer(10, 1, 1000),
    IMPORT_UPLOAD_HOURS: integer(24, 1, 24 * 30),
    ORGANIZATION_MAX_BYTES: integer(0, 0, Number.MAX_SAFE_INTEGER),
    MEDIA_MAX_BYTES: integer(512 * MiB, 1, Number.MAX_SAFE_INTEGER),
    DOWNLOAD_CONCURRENCY: integer(64, 1, 256),
    DOWNLOAD_CONCURRENCY_PER_HOST: integer(16, 1, 256),
    DOWNLOAD_TIMEOUT_SECONDS: integer(60, 1, 3600),
    DOWNLOAD_MIN_BYTES_PER_SECOND: integer(16 * KiB, 0, Number.MAX_SAFE_INTEGER),
    DOWNLOAD_DEADLINE_SECONDS: number(1, 86_400).optional(),
    MEDIA_FRESH_HOURS: integer(6, 0, 24 * 30),
    LECTERN_ALLOWED_PRIVATE_HOSTS: hostList,
    // shared/platform/http/connections.ts reads these from the environment; names in lower case win, as in curl.
    HTTP_PROXY: url(['http:', 'https:']).optional(),
    HTTPS_PROXY: url(['http:', 'https:']).optional(),
    ALL_PROXY: url(['http:', 'https:']).optional(),
    NO_PROXY: z.string().optional(),
    http_proxy: url(['http:', 'https:']).optional(),
    https_proxy: url(['http:', 'https:']).optional(),
    all_proxy: url(['http:', 'https:']).optional(),
    no_proxy: z.string().optional(),
    // Node.js reads it.
    NODE_EXTRA_CA_CERTS: z.string().optional(),
    WORKER_CONCURRENCY: integer(2, 1, 64),
    WORKER_IMPORT_CONCURRENCY: integer(2, 0, 64),
    WORKER_LOCK_SECONDS: integer(30, 2, 600),
    WORKER_WATCHDOG_SECONDS: integer(60, 0, 3600),
    WORKER_PORT: number(0, 65_535).optional(),
    METRICS_PORT: number(0, 65_535).optional(),
    SHUTDOWN_SECONDS: integer(30, 1, 600),
    XDG_CACHE_HOME: z.string().optional(),
    npm_lifecycle_event: z.string().optional(),
  })
  .superRefine(
    (env, context) => {
      const fault = (name: keyof typeof env, message: string) =>
        context.addIssue({ code: 'custom', path: [name], message });
      const required = (name: keyof typeof env, message: string) => {
        if (env[name] === undefined) fault(name, message);
      };
      if (env.ADMIN_PASSWORD !== undefined) required('ADMIN_USERNAME', 'must be set when ADMIN_PASSWORD is');
      if (env.ADMIN_USERNAME !== undefined) required('ADMIN_PASSWORD', 'must be set when ADMIN_USERNAME is');
      if (env.SENDFILE_HEADER !== undefined && env.TRUST_PROXY === 0)
        fault('SENDFILE_HEADER', 'needs TRUST_PROXY of 1 or more, because a proxy sends the files');
      if (env.SENDFILE_HEADER === 'X-Sendfile' && env.STORE === 's3')
        fault(
          'SENDFILE_HEADER',
          'must be X-Accel-Redirect with STORE=s3: X-Sendfile names files of a folder',
        );
      for (const [name, message] of [...storeFaults(env), ...productionFaults(env)]) fault(name, message);
    },
    { when: always },
  );

type Environment = z.output<typeof environmentSchema>;

/** Returns the deadline of a download in seconds: ten minutes, or more for files that take longer at 2 Mbit/s. */
function deadlineFor(maxBytes: number): number {
  return Math.min(Math.max(600, Math.ceil(maxBytes / (256 * KiB))), 86_400);
}

const loopbackNames = ['localhost', '127.0.0.1', '::1', '[::1]'];

function hostnameOf(text: string | undefined): string | null {
  return text === undefined ? null : new URL(text).hostname;
}

function toConfig(env: Environment) {
  const dataDir = resolve(env.LECTERN_DATA_DIR);
  const production = env.NODE_ENV === 'production';
  /** In production, the container or platform restricts access to the port; elsewhere, Lectern does. */
  const host = env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1');
  return {
    production,
    host,
    /** Whether only this machine reaches Lectern, as in development. */
    isLocal:
      !production &&
      env.TRUST_PROXY === 0 &&
      [host, hostnameOf(env.PUBLIC_URL) ?? host].every((name) => loopbackNames.includes(name)),
    port: env.PORT,
    publicUrl: env.PUBLIC_URL,
    trustProxy: env.TRUST_PROXY,
    /** Tells the proxy to send a file of the store; undefined if Lectern sends all files. */
    sendfileHeader: env.SENDFILE_HEADER,
    logLevel: env.LOG_LEVEL,
    mongodbUri: env.MONGODB_URI,
    redisUrl: env.REDIS_URL,
    redisPrefix: env.REDIS_PREFIX,
    dataDir,
    storeDir: resolve(env.LECTERN_STORE_DIR ?? join(dataDir, 'store')),
    store: toStore(env),
    /**
     * The limits of archives and downloads together; 0 for no limit. If undefined, shared/storage/store-limits.ts
     * decides.
     */
    storeLimits: { maxBytes: env.STORE_MAX_BYTES, maxAgeHours: env.STORE_MAX_AGE },
    /** Holds downloaded server binaries for all data directories of this user. */
    cacheDir: join(
      env.XDG_CACHE_HOME === undefined || env.XDG_CACHE_HOME === ''
        ? join(homedir(), '.cache')
        : env.XDG_CACHE_HOME,
      'lectern',
    ),
    keyPepper: env.LECTERN_KEY_PEPPER,
    /** The first secret signs, and all of them verify. Empty if embed tokens are disabled. */
    signingSecrets: env.LECTERN_SIGNING_SECRETS,
    assetSecret: env.LECTERN_ASSET_SECRET,
    cookieSecret: env.LECTERN_COOKIE_SECRET,
    /** Origins whose pages may use a user's session. */
    allowedOrigins: env.LECTERN_ALLOWED_ORIGINS,
    session: {
      hours: env.SESSION_HOURS,
      loginTries: env.LOGIN_TRIES,
      /** Whose users must set up two-step login. */
      twoStep: env.TWO_STEP_LOGIN,
    },
    /** Requests a minute; 0 for no limit. */
    rateLimit: { perKey: env.RATE_LIMIT_PER_KEY, perAddress: env.RATE_LIMIT_PER_ADDRESS },
    /** The timeout for a request to arrive. */
    requestSeconds: env.REQUEST_TIMEOUT_SECONDS,
    /** How long an unused connection to the API stays open. */
    keepAliveSeconds: env.KEEP_ALIVE_SECONDS,
    /** The size of the cache of prepared lessons. */
    playerCacheBytes: env.PLAYER_CACHE_BYTES,
    /** Whether the API serves the console. */
    console: env.CONSOLE,
    admin:
      env.ADMIN_USERNAME !== undefined && env.ADMIN_PASSWORD !== undefined
        ? { username: env.ADMIN_USERNAME, password: env.ADMIN_PASSWORD }
        : undefined,
    export: {
      waitSeconds: env.EXPORT_WAIT_SECONDS,
      /** Concurrently waiting requests in one process. */
      waitsPerOrganization: env.EXPORT_WAITS_PER_ORGANIZATION,
      maxBytes: env.EXPORT_MAX_BYTES,
      buildSeconds: env.EXPORT_BUILD_SECONDS,
      degradedSeconds: env.DEGRADED_EXPORT_SECONDS,
      /** Whether publishing a version queues the build of its archive. */
      prebuild: env.EXPORT_PREBUILD,
    },
    /** Imports of packages over HTTP. */
    import: {
      /** The maximum of unfinished imports. */
      perOrganization: env.IMPORTS_PER_ORGANIZATION,
      /** How long an upload may stay without new bytes. */
      uploadHours: env.IMPORT_UPLOAD_HOURS,
      /** For organizations without a limit of their own; 0 for none. */
      maxStoredBytes: env.ORGANIZATION_MAX_BYTES,
    },
    download: {
      maxBytes: env.MEDIA_MAX_BYTES,
      concurrency: env.DOWNLOAD_CONCURRENCY,
      concurrencyPerHost: env.DOWNLOAD_CONCURRENCY_PER_HOST,
      timeoutSeconds: env.DOWNLOAD_TIMEOUT_SECONDS,
      /** The minimum average over `timeoutSeconds`; 0 for none. */
      minBytesPerSecond: env.DOWNLOAD_MIN_BYTES_PER_SECOND,
      /** The deadline of a file, retries included. */
      deadlineSeconds: env.DOWNLOAD_DEADLINE_SECONDS ?? deadlineFor(env.MEDIA_MAX_BYTES),
      allowedPrivateHosts: env.LECTERN_ALLOWED_PRIVATE_HOSTS,
    },
    /** How long learners get a downloaded file without revalidation at its origin. */
    mediaFreshHours: env.MEDIA_FRESH_HOURS,
    worker: {
      concurrency: env.WORKER_CONCURRENCY,
      /** Concurrent imports over HTTP; 0 leaves them to other workers. */
      importConcurrency: env.WORKER_IMPORT_CONCURRENCY,
      lockSeconds: env.WORKER_LOCK_SECONDS,
      /** 0 for none. */
      watchdogSeconds: env.WORKER_WATCHDOG_SECONDS,
      /** The port of health checks and metrics; undefined for none. */
      port: env.WORKER_PORT,
    },
    /** The port of the API's metrics; undefined for none. */
    metricsPort: env.METRICS_PORT,
    shutdownSeconds: env.SHUTDOWN_SECONDS,
    /** npm does not forward the signal that kills it; see cli/terminal/interrupts.ts. */
    startedByNpm: env.npm_lifecycle_event !== undefined,
  };
}

/** The validated settings of a process, frozen. Sizes are in bytes, times in seconds unless the name says otherwise. */
export type Config = Readonly<ReturnType<typeof toConfig>>;

/** An invalid configuration; `faults` has one line for each fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: string[];

  constructor(faults: string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** Settings with secrets. Each may be in a file, which `NAME_FILE` names, as container platforms provide it. */
const secretSettings = [
  ...secretsOfProduction,
  ...(['MONGODB_URI', 'REDIS_URL', 'ADMIN_PASSWORD', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const),
];

/**
 * Parses an environment. An empty value counts as not set, as in a Compose file.
 *
 * @throws {ConfigError} listing all faults.
 */
export function parseConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const { secrets, faults } = readSecretFiles(given, secretSettings);
  const parsed = environmentSchema.safeParse({ ...given, ...secrets });
  for (const issue of parsed.error?.issues ?? []) faults.push(`${issue.path.join('.')} ${issue.message}`);
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  const config = toConfig(parsed.data);
  for (const group of Object.values(config)) Object.freeze(group);
  return Object.freeze(config);
}

/** Returns the configuration of this process. The environment overrides the file `.env` in the working directory. */
export function loadConfig(): Config {
  for (const [name, value] of Object.entries(readEnvironmentFile('.env'))) process.env[name] ??= value;
  // Amazon's client would warn about Node.js 20; package.json states which version Lectern needs.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  return parseConfig(process.env);
}

/** The names of all settings. */
export const settingNames: readonly string[] = Object.keys(environmentSchema.shape).filter(
  (name) => name !== 'npm_lifecycle_event',
);

/** Returns a warning for each variable of this process that resembles a setting but is none. */
export function settingWarnings(): string[] {
  return warnOfUnknownSettings(Object.keys(process.env), [
    ...settingNames,
    ...secretSettings.map(secretFileSetting),
  ]);
}

/** Returns the environment for a child process: this one's, with some settings replaced. */
export function childEnvironment(settings: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...settings };
}

const byteOrderMark = '\ufeff';

/**
 * Returns the settings of a `.env` file; none if there is no file. It drops a byte order mark, which some editors add.
 *
 * @throws {Error} with the reason why the file is unreadable, but none of its content.
 */
export function readEnvironmentFile(path: string): Record<string, string> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new Error(
      `${path} cannot be read (${messageOf(error)}). Correct its owner or mode, or remove it.`,
      {
        cause: error,
      },
    );
  }
  // PowerShell writes UTF-16 by default; read as UTF-8, every name would be unknown.
  if (bytes.includes(0)) throw new Error(`${path} is not UTF-8 text. Save it as UTF-8.`);
  const text = bytes.toString('utf8');
  return parseEnv(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Record<string, string>;
}
