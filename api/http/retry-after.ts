import { codeOf, LecternError } from '../../shared/platform/errors.ts';

/** The `Retry-After` of temporary failures, in seconds. */
export const retryAfterSeconds = 10;

/** Returns TOO_MANY_REQUESTS. @param reason a sentence without its period. */
export function tooMany(reason: string, seconds = retryAfterSeconds): LecternError {
  const message = `${reason}; try again in ${seconds} seconds`;
  return new LecternError('TOO_MANY_REQUESTS', message, { retryAfterSeconds: seconds });
}

const mongoUnavailable =
  /^Mongo(ose)?(Network|ServerSelection|PoolCleared|WaitQueue|NotConnected|TopologyClosed)/;

/** Few errors of ioredis have a name or a code. */
const redisUnavailable =
  /^(Connection is closed|Stream isn't writeable|Command timed out|Reached the max retries|LOADING )/;

/** Codes of the operating system ("ECONNREFUSED", "ENOSPC"), but not Node's ("ERR_INVALID_ARG_TYPE"). */
const systemCode = /^E(?!RR_)[A-Z]/;

/** Returns whether an error comes from a server or disk that may recover, rather than from a defect. */
export function isTemporary(error: unknown): boolean {
  const code = codeOf(error);
  return (
    error instanceof Error &&
    (mongoUnavailable.test(error.name) ||
      redisUnavailable.test(error.message) ||
      (typeof code === 'string' && systemCode.test(code)))
  );
}
