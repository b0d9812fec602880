/** Options of {@link LecternError}. */
export interface LecternErrorDetails {
  /** The HTTP status; missing if there was no response. */
  status?: number;
  /** The `X-Request-Id`, by which the operator finds the request in Lectern's log. */
  requestId?: string;
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** The base of all errors of this client. */
export class LecternError extends Error {
  /** For programs: the `Error-Code` of the response, such as `NOT_FOUND`, or `CONNECTION_FAILED` and the like. */
  readonly code: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: string,
    message: string,
    { status, requestId, retryAfterSeconds, cause }: LecternErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 400, 413, 422 and the like: the request is wrong, and the message says how. */
export class InvalidRequestError extends LecternError {}
/** 401: the credentials are missing, unknown, revoked or expired. */
export class AuthenticationError extends LecternError {}
/** 403: the credentials lack a scope, or the organization's plan lacks a feature. */
export class PermissionError extends LecternError {}
/** 404: the object does not exist, or belongs to another organization. */
export class NotFoundError extends LecternError {}
/** 409 and 423: the state of the object does not allow the request. */
export class ConflictError extends LecternError {}
/** 429: too many requests. Retries did not help, or `Retry-After` is more than a minute. */
export class RateLimitError extends LecternError {}
/** 5xx: Lectern or a proxy failed. The client has retried where that may help. */
export class ServerError extends LecternError {}
/** There was no response, after all retries: `CONNECTION_FAILED`, `TIMEOUT`; or `ABORTED` by your signal. */
export class ConnectionError extends LecternError {}
/** A digest or a signature is wrong: `DIGEST_MISMATCH`, `ARCHIVE_CHANGED`, `INVALID_SIGNATURE`. */
export class VerificationError extends LecternError {}

const kinds: Record<
  number,
  [new (...given: ConstructorParameters<typeof LecternError>) => LecternError, string]
> = {
  400: [InvalidRequestError, 'BAD_REQUEST'],
  401: [AuthenticationError, 'UNAUTHORIZED'],
  403: [PermissionError, 'FORBIDDEN'],
  404: [NotFoundError, 'NOT_FOUND'],
  409: [ConflictError, 'CONFLICT'],
  412: [InvalidRequestError, 'PRECONDITION_FAILED'],
  413: [InvalidRequestError, 'PAYLOAD_TOO_LARGE'],
  416: [InvalidRequestError, 'RANGE_NOT_SATISFIABLE'],
  422: [InvalidRequestError, 'INVALID_CONTENT'],
  423: [ConflictError, 'LOCKED'],
  429: [RateLimitError, 'TOO_MANY_REQUESTS'],
};

/** Returns the error of a response with an error status. @param code its `Error-Code`; a proxy sends none. */
export function errorOf(
  status: number,
  code: string | null,
  text: string,
  details: LecternErrorDetails,
): LecternError {
  const [Kind, general] =
    kinds[status] ??
    (status >= 500 ? [ServerError, 'INTERNAL_ERROR'] : [LecternError, 'UNEXPECTED_RESPONSE']);
  const body = parse(text);
  const message = body.message ?? body.error ?? `Unexpected response with status ${status}`;
  return new Kind(code ?? general, message, { status, ...details });
}

/** Exports have `message`; other endpoints have `error`; a proxy may send anything. */
function parse(text: string): { error?: string; message?: string } {
  try {
    return Object(JSON.parse(text)) as { error?: string };
  } catch {
    return {};
  }
}
