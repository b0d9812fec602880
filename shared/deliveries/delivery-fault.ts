import { parseRetryAfter } from '../platform/backoff.ts';

const maxBodyCharacters = 4096;

/**
 * The retry policies of an outbox. `week` is for faults that pass by themselves, `quarterHour` for refusals that a
 * restart on either side can cause, `never` for final refusals; `moot` means that there is nowhere to deliver to,
 * which is no failure.
 */
export type RetryPolicy = 'week' | 'quarterHour' | 'never' | 'moot';

/**
 * What an attempt shows of its target: `healthy`, `failing` (other deliveries would fail now for the same reason), or
 * nothing.
 */
export type TargetHealth = 'healthy' | 'failing' | 'unknown';

/** How a delivery that failed for a reason goes on. */
export interface FaultKind {
  retry: RetryPolicy;
  target: TargetHealth;
}

/** A delivery failed. The reason alone decides what happens next. */
export class DeliveryFault<Reason extends string = string> extends Error {
  override readonly name: string = 'DeliveryFault';
  readonly reason: Reason;
  readonly kind: FaultKind;
  /** The status of the target's response; null without one. */
  readonly status: number | null;
  /** The beginning of the response; null without one. */
  readonly body: string | null;
  /** The delay that the target asks for, in milliseconds; null without a Retry-After header. */
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

/** Returns the beginning of a response, which the outbox keeps for operators. */
export function truncateBody(body: string): string {
  return body.slice(0, maxBodyCharacters);
}
