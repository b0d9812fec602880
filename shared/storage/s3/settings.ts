import type { StoreSettings } from '../../platform/config.ts';

/** The settings of a store in a bucket. */
export type S3Settings = Extract<StoreSettings, { kind: 's3' }>;

/** How long what may take. Milliseconds. */
export interface S3Limits {
  /** How long a call that fails for a passing reason is tried again: longer than a restart of the service. */
  retryBudgetMs: number;
  /** One try of a small call, and the wait for the first byte of a large object. */
  callTimeoutMs: number;
  /** One try to send a part of an upload. */
  uploadTimeoutMs: number;
  /** One try to complete an upload, which large ones keep the service busy with. */
  completionTimeoutMs: number;
  /** A body of which no byte came for so long is asked for anew. Time that the reader takes does not count. */
  idleTimeoutMs: number;
}

export const defaultLimits: S3Limits = {
  retryBudgetMs: 30_000,
  callTimeoutMs: 10_000,
  uploadTimeoutMs: 60_000,
  completionTimeoutMs: 300_000,
  idleTimeoutMs: 20_000,
};
