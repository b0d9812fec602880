import { codeOf, LecternError, messageOf } from '../../platform/errors.ts';
import type { S3Settings } from './settings.ts';

/** Reports a body that ended early. */
export class TruncatedBody extends Error {
  override readonly name = 'TruncatedBody';
}

/** Names of transient faults of the service, the network, or this machine's clock. */
const transientNames = new Set(['TruncatedBody', 'TimeoutError', 'SlowDown', 'RequestTimeTooSkewed']);
const transientStatuses = new Set([408, 429, 500, 502, 503, 504]);
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** Returns whether another call may succeed later. */
export function isTransient(error: unknown): boolean {
  if (transientNames.has(nameOf(error))) return true;
  const status = statusOf(error);
  return status === undefined ? networkCodes.has(String(codeOf(error))) : transientStatuses.has(status);
}

/** Returns whether the object does not exist; never true for a missing bucket or user. */
export function isAbsent(error: unknown): boolean {
  return hasName(error, 'NoSuchKey', 'NotFound');
}

export function hasName(error: unknown, ...names: string[]): boolean {
  return names.includes(nameOf(error));
}

/** Returns an error for operators. Its message describes the failure and contains no secret. */
export function storeFault(error: unknown, settings: S3Settings): LecternError {
  if (error instanceof LecternError) return error;
  return new LecternError(
    'INTERNAL_ERROR',
    `The store in ${locationOf(settings)} ${explain(error, settings)}`,
    {
      cause: error,
      ...(isTransient(error) && { retryAfterSeconds: 10 }),
    },
  );
}

/** Returns the location of the store: `bucket lectern/prefix at http://s3.example:9000`. */
export function locationOf({ bucket, prefix, endpoint, region }: S3Settings): string {
  const at = endpoint ?? `Amazon S3, ${region}`;
  return `bucket ${[bucket, ...prefix.split('/')].filter((part) => part !== '').join('/')} at ${at}`;
}

function explain(error: unknown, { bucket, region, accessKeyId }: S3Settings): string {
  const name = nameOf(error);
  const status = statusOf(error);
  switch (name) {
    // A response without a body reports a missing bucket as NotFound; for an object that is no fault.
    case 'NoSuchBucket':
    case 'NotFound':
      return `does not exist: create the bucket ${bucket}, or correct S3_BUCKET.`;
    case 'InvalidAccessKeyId':
    case 'XAdminUserNotFound':
      return `does not know the access key ${accessKeyId ?? ''}: correct S3_ACCESS_KEY_ID.`;
    case 'SignatureDoesNotMatch':
      return 'rejects the signature: correct S3_SECRET_ACCESS_KEY.';
    case 'AuthorizationHeaderMalformed':
    case 'PermanentRedirect':
    case 'IllegalLocationConstraintException':
      return `is not in the region ${region}: correct S3_REGION (${messageOf(error)}).`;
    case 'RequestTimeTooSkewed':
      return 'rejects requests because the clock of this machine is wrong: set it.';
    case 'CredentialsProviderError':
      return 'needs keys: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or give this machine a role.';
  }
  if (status === 403) {
    return `denies access: its key has to list the bucket, and read, write and delete objects (${name}).`;
  }
  if (status === undefined && isTransient(error)) {
    const code = codeOf(error);
    const reason = typeof code === 'string' ? code : messageOf(error);
    return `does not respond (${reason}): check that it runs, and that S3_ENDPOINT is correct.`;
  }
  const answer = status === undefined ? '' : ` with ${status}`;
  return `failed${answer}: ${name}${messageOf(error) === name ? '' : `, ${messageOf(error)}`}`;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}

/** Returns the response's status, if there was a response. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  const metadata = error.$metadata as { httpStatusCode?: number };
  return metadata.httpStatusCode;
}
