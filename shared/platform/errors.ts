/**
 * The codes of all expected errors, with their HTTP status; the first of a status is its general one. The endpoint
 * decides on the body (see api/http/error-format.ts).
 */
const statusByCode = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  /** The password is right, and a code of the authenticator app is missing. */
  CODE_REQUIRED: 401,
  FORBIDDEN: 403,
  FEATURE_NOT_AVAILABLE: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  GONE: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  RANGE_NOT_SATISFIABLE: 416,
  INVALID_CONTENT: 422,
  LOCKED: 423,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  NOT_IMPLEMENTED: 501,
  /** A foreign server that the response depends on has failed. */
  BAD_GATEWAY: 502,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof statusByCode;

export const errorCodes = Object.keys(statusByCode) as ErrorCode[];

/** Returns the general code of an error status. */
export function codeOfStatus(status: number): ErrorCode {
  return (
    errorCodes.find((code) => statusByCode[code] === status) ??
    (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_ERROR')
  );
}

export interface LecternErrorOptions {
  /** The underlying error; logged, never shown to callers. */
  cause?: unknown;
  /** The delay before a retry may succeed, in seconds; sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** Replaces the general text of a 500 in the response. */
  publicMessage?: string;
  /** Why a 401 rejects the credentials, for `WWW-Authenticate`; missing if the request has none. */
  invalidToken?: string;
}

/** An error with a code. Callers see its message if the status is below 500. */
export class LecternError extends Error {
  override readonly name: string = 'LecternError';
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

  get status(): number {
    return statusByCode[this.code];
  }

  /** Whether callers may see the message. */
  get expose(): boolean {
    return this.status < 500;
  }
}

/** Returns the message of any thrown value, for logs and terminals. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the `code` of a system or library error ("ENOENT", "ECONNREFUSED", 11000), or undefined. */
export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

export type OutboundFault = 'blocked_address' | 'timeout' | 'network';

/** A failed outbound request. The message names the host, never the whole URL: URLs may contain signatures. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly reason: OutboundFault;

  constructor(reason: OutboundFault, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Returns the code of a network error for messages, such as ECONNRESET. */
export function faultCode(error: unknown): string {
  const code = codeOf(error);
  return typeof code === 'string' ? code : 'no code';
}
