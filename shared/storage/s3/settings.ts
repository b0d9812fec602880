import type { StoreSettings } from '../../platform/store-settings.ts';

/** The settings of a store in a bucket. */
export type S3Settings = Extract<StoreSettings, { kind: 's3' }>;

/** Timeouts and the retry budget of calls. */
export interface S3Limits {
  /** How long a call with transient failures is retried: longer than a restart of the service. */
  retryBudgetMs: number;
  /** One attempt of a small call, and the wait for the first byte of a large object. */
  callTimeoutMs: number;
  /** One attempt to upload a part. */
  uploadTimeoutMs: number;
  /** One attempt to complete an upload, which is slow for large uploads. */
  completionTimeoutMs: number;
  /**
   * A body without a byte for this long is requested again from its last byte. The reader's own time does not count.
   */
  idleTimeoutMs: number;
}

export const defaultLimits: S3Limits = {
  retryBudgetMs: 30_000,
  callTimeoutMs: 10_000,
  uploadTimeoutMs: 60_000,
  completionTimeoutMs: 300_000,
  idleTimeoutMs: 20_000,
};
