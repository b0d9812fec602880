import { codeOf, LecternError } from '../../shared/platform/errors.ts';

/** The `Retry-After` of temporary failures, in seconds. */
export const retryAfterSeconds = 10;

/** TOO_MANY_REQUESTS. @param what there is too much of, as a sentence without an end */
export function tooMany(what: string, seconds = retryAfterSeconds): LecternError {
  const message = `${what}; try again in ${seconds} seconds`;
  return new LecternError('TOO_MANY_REQUESTS', message, { retryAfterSeconds: seconds });
}

const mongoIsAway = /^Mongo(ose)?(Network|ServerSelection|PoolCleared|WaitQueue|NotConnected|TopologyClosed)/;

/** ioredis gives few of its errors a name or a code. */
const redisIsAway =
  /^(Connection is closed|Stream isn't writeable|Command timed out|Reached the max retries|LOADING )/;

/** The codes of the operating system ("ECONNREFUSED", "ENOSPC"), not Node's own ("ERR_INVALID_ARG_TYPE"). */
const systemCode = /^E(?!RR_)[A-Z]/;

/** Returns whether a failure is temporary: a server's or a disk's, rather than a defect. */
export function isTemporary(error: unknown): boolean {
  const code = codeOf(error);
  return (
    error instanceof Error &&
    (mongoIsAway.test(error.name) ||
      redisIsAway.test(error.message) ||
      (typeof code === 'string' && systemCode.test(code)))
  );
}
