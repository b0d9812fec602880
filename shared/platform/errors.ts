/**
 * Every failure Lectern reports on purpose, as a stable code. The HTTP status follows from the code; the body
 * shape follows from the endpoint (see api/http/middleware/errors.ts).
 */
const statusByCode = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FEATURE_NOT_AVAILABLE: 403,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  RANGE_NOT_SATISFIABLE: 416,
  INVALID_CONTENT: 422,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_ERROR: 500,
  /** Somebody else's server, which this answer depends on, does not do its part. */
  BAD_GATEWAY: 502,
} as const;

export type ErrorCode = keyof typeof statusByCode;

export interface LecternErrorOptions {
  /** What happened underneath; logged, never shown to a caller. */
  cause?: unknown;
  /** Seconds after which trying again makes sense; sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** What callers read in place of the general text of a 500. */
  publicMessage?: string;
  /** Why the credentials of a 401 are not accepted; left out where the request has none. Sent in `WWW-Authenticate`. */
  invalidToken?: string;
}

/** A failure with a code. The message of anything below 500 is written for the caller and shown to it. */
export class LecternError extends Error {
  override readonly name = 'LecternError';
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly publicMessage: string | undefined;
  readonly invalidToken: string | undefined;

  constructor(code: ErrorCode, message: string, options: LecternErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.publicMessage = options.publicMessage;
    this.invalidToken = options.invalidToken;
  }

  /** The HTTP status of this failure. */
  get status(): number {
    return statusByCode[this.code];
  }

  /** Whether the message may be shown to a caller. */
  get expose(): boolean {
    return this.status < 500;
  }
}

/** The message of anything thrown; for logs and for people at a terminal. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system or library error ("ENOENT", "ECONNREFUSED", 11000), if it has one. */
export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
