/** Why a file is missing from an archive; documented in docs/export.md. */
export const failureReasons = [
  'not_found',
  'forbidden',
  'timeout',
  'too_large',
  'too_many_redirects',
  'rate_limited',
  'blocked_address',
  'bad_type',
  'truncated',
  'unknown_media',
  'network',
  'server_error',
] as const;

export type FailureReason = (typeof failureReasons)[number];

/** A foreign file could not be had. The message names the host, never a whole URL: those carry signatures. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  readonly reason: FailureReason;
  /** The HTTP status of the answer that failed, when there was an answer. */
  readonly status: number | undefined;
  /** How long the server asked to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    reason: FailureReason,
    message: string,
    answer: { status?: number; retryAfterMs?: number } = {},
  ) {
    super(message);
    this.reason = reason;
    this.status = answer.status;
    this.retryAfterMs = answer.retryAfterMs;
  }
}

/** The origin sends, but too slowly: another try would only take as long again. */
export class SlowDownload extends DownloadError {
  constructor(message: string) {
    super('timeout', message);
  }
}

const reasonByStatus = new Map<number, FailureReason>([
  [401, 'forbidden'],
  [402, 'forbidden'],
  [403, 'forbidden'],
  [406, 'bad_type'],
  [407, 'forbidden'],
  [408, 'timeout'],
  [415, 'bad_type'],
  [429, 'rate_limited'],
  [451, 'forbidden'],
]);

/**
 * What an HTTP status that brings no file means. A 4xx without a meaning of its own is `not_found`: there is no such
 * file at that address. Everything else that is not a file (5xx, 206 to a request for the whole, a redirect to
 * nowhere) is the server's fault.
 */
export function reasonOfStatus(status: number): FailureReason {
  return reasonByStatus.get(status) ?? (status >= 400 && status < 500 ? 'not_found' : 'server_error');
}

/** Whether the same request may well succeed later. */
export function isTransient({ reason, status }: DownloadError): boolean {
  switch (reason) {
    case 'timeout':
    case 'rate_limited':
    case 'network':
    case 'truncated':
      return true;
    case 'server_error':
      return status !== undefined && status >= 500;
    case 'not_found':
    case 'forbidden':
    case 'too_large':
    case 'too_many_redirects':
    case 'blocked_address':
    case 'bad_type':
    case 'unknown_media':
      return false;
  }
}
