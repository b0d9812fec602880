import type { StoreSettings } from '../../platform/store-settings.ts';

/** The settings of a store in a bucket. */
export type S3Settings = Extract<StoreSettings, { kind: 's3' }>;

/** The limits of calls, which the SDK retries with backoff and jitter. */
export interface S3Limits {
  /** The attempts of a call. Ten take about half a minute: longer than a restart of the service. */
  maxAttempts: number;
  connectTimeoutMs: number;
  /** The timeout of one attempt, until the response begins: long enough to send a part of an upload. */
  requestTimeoutMs: number;
  /** A connection without a byte for this long is closed. A read continues over another one. */
  idleTimeoutMs: number;
}

export const defaultLimits: S3Limits = {
  maxAttempts: 10,
  connectTimeoutMs: 5_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 30_000,
};
