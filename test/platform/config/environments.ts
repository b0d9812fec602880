import { ConfigError, parseConfig } from '../../../shared/platform/config.ts';

/** What production asks for. */
export const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://lectern.example',
  MONGODB_URI: 'mongodb://mongo/lectern',
  REDIS_URL: 'redis://redis',
  LECTERN_KEY_PEPPER: 'p'.repeat(32),
  LECTERN_SIGNING_SECRETS: `main:${'s'.repeat(32)}`,
  LECTERN_ASSET_SECRET: 'a'.repeat(32),
  LECTERN_COOKIE_SECRET: 'c'.repeat(32),
};

/** What a bucket of an S3-compatible service asks for. */
export const bucket = {
  STORE: 's3',
  S3_ENDPOINT: 'http://127.0.0.1:9000',
  S3_BUCKET: 'lectern',
  S3_ACCESS_KEY_ID: 'id',
  S3_SECRET_ACCESS_KEY: 'secret',
};

/** Returns the problems reported for an invalid environment; none for a valid one. */
export function faultsOf(environment: Record<string, string | undefined>): string[] {
  try {
    parseConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}
