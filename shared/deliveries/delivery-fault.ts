import { parseRetryAfter } from '../platform/backoff.ts';

const maxBodyCharacters = 4096;

/**
 * The retry policies of an outbox. `week` is for transient faults, `quarterHour` for rejections that a restart on
 * either side can cause, and `never` for final rejections. `moot` means that there is no target any more, which does
 * not count as a failure.
 */
export type RetryPolicy = 'week' | 'quarterHour' | 'never' | 'moot';

/**
 * The health of a target, judged by an attempt: `failing` means that other deliveries would fail now for the same
 * reason.
 */
export type TargetHealth = 'healthy' | 'failing' | 'unknown';

/** The consequences of a fault for its delivery and its target. */
export interface FaultKind {
  retry: RetryPolicy;
  target: TargetHealth;
}

/** Reports a failed delivery. The reason alone decides what happens next. */
export class DeliveryFault<Reason extends string = string> extends Error {
  override readonly name: string = 'DeliveryFault';
  readonly reason: Reason;
  readonly kind: FaultKind;
  /** The status of the target's response; null without one. */
  readonly status: number | null;
  /** The beginning of the response; null without one. */
  readonly body: string | null;
  /** The delay in the Retry-After header, in milliseconds; null without one. */
  readonly retryAfterMs: number | null;

  constructor(
    reason: Reason,
    kind: FaultKind,
    message: string,
    response: { status?: number; body?: string; retryAfter?: string | null } = {},
  ) {
    super(message);
    this.reason = reason;
    this.kind = kind;
    this.status = response.status ?? null;
    this.body = response.body === undefined ? null : truncateBody(response.body);
    this.retryAfterMs = parseRetryAfter(response.retryAfter ?? null) ?? null;
  }
}

/** Narrows an error of any kind; `instanceof` alone would leave the type of the reason open. */
export function isDeliveryFault(error: unknown): error is DeliveryFault {
  return error instanceof DeliveryFault;
}

/** Returns the beginning of a response, for storage in the outbox. */
export function truncateBody(body: string): string {
  return body.slice(0, maxBodyCharacters);
}
