import { z } from 'zod';
import { choice, flag, integer, number, url } from './setting-forms.ts';

/** The settings of the store, named as in the environment. */
export const storeSettings = {
  STORE: choice(['disk', 's3'], 'disk'),
  S3_ENDPOINT: url(['http:', 'https:']).optional(),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket: 3 to 63 of a-z, 0-9, . and -')
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
};

type StoreEnvironment = z.output<z.ZodObject<typeof storeSettings>>;

/** Returns the faults of settings that depend on each other: each setting's name and the fault. */
export function storeFaults(env: StoreEnvironment): [keyof StoreEnvironment, string][] {
  if (env.STORE !== 's3') return [];
  // Without keys, Amazon's client uses the machine's IAM role, which other services lack.
  const needsKey = env.S3_ENDPOINT !== undefined || env.S3_SECRET_ACCESS_KEY !== undefined;
  const needsSecret = env.S3_ENDPOINT !== undefined || env.S3_ACCESS_KEY_ID !== undefined;
  const faults: [keyof StoreEnvironment, string][] = [];
  if (env.S3_BUCKET === undefined) faults.push(['S3_BUCKET', 'is required with STORE=s3']);
  if (needsKey && env.S3_ACCESS_KEY_ID === undefined)
    faults.push(['S3_ACCESS_KEY_ID', 'is required with S3_ENDPOINT or S3_SECRET_ACCESS_KEY']);
  if (needsSecret && env.S3_SECRET_ACCESS_KEY === undefined)
    faults.push(['S3_SECRET_ACCESS_KEY', 'is required with S3_ENDPOINT or S3_ACCESS_KEY_ID']);
  return faults;
}

/** The store's location: a folder, or a bucket of an S3-compatible service. */
export type StoreSettings =
  | { kind: 'disk' }
  | {
      kind: 's3';
      /** Undefined for Amazon S3. */
      endpoint: string | undefined;
      bucket: string;
      region: string;
      /** Undefined for the machine's IAM role. */
      accessKeyId: string | undefined;
      secretAccessKey: string | undefined;
      /** The prefix of all names in the bucket; empty, or with a slash at the end. */
      prefix: string;
      /** Whether URLs contain the bucket in the path instead of the host name. */
      forcePathStyle: boolean;
      /** Whether Lectern redirects clients to presigned URLs of the bucket. */
      presignedReads: boolean;
    };

/** Returns where files are stored. */
export function toStore(env: StoreEnvironment): StoreSettings {
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
