/** Reasons for a file missing from an archive; docs/export.md explains them. */
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

/**
 * Reports a failed download of a foreign file. The message names the host, never a URL, because URLs may carry
 * signatures.
 */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  readonly reason: FailureReason;
  /** The HTTP status, if the server responded. */
  readonly status: number | undefined;
  /** The server's Retry-After, in milliseconds. */
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

/** Reports an origin that sends too slowly. A retry would be just as slow. */
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
 * Returns the reason for an HTTP status without a file. Other 4xx mean `not_found`. All other statuses are the server's
 * fault: 5xx, 206 to a request for the whole file, a redirect without a target.
 */
export function reasonOfStatus(status: number): FailureReason {
  return reasonByStatus.get(status) ?? (status >= 400 && status < 500 ? 'not_found' : 'server_error');
}

/** Returns whether a retry of the same request may succeed. */
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
