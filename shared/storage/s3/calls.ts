import { setTimeout as delay } from 'node:timers/promises';
import { S3Client } from '@aws-sdk/client-s3';
import { backoffMs } from '../../platform/backoff.ts';
import { withTimeLimit } from '../../platform/time-limits.ts';
import { CallTimeout, isAbsent, isTransient, storeFault } from './faults.ts';
import type { S3Limits, S3Settings } from './settings.ts';

/** Delays between attempts of a call. */
const backoff = { firstMs: 50, maxMs: 2_000 };

interface CallOptions {
  /** The timeout of one attempt. */
  timeoutMs?: number;
  /** How long transient failures are retried; 0 for one attempt. */
  retryBudgetMs?: number;
  /** Aborts the attempts. */
  signal?: AbortSignal;
}

/**
 * Sends calls to an S3-compatible service. Each has a timeout, and is retried with backoff while its failure is transient
 * and the retry budget lasts.
 *
 * @throws {LecternError} INTERNAL_ERROR from every call, with a message for operators.
 */
export class S3Calls {
  readonly client: S3Client;
  readonly settings: S3Settings;
  readonly limits: S3Limits;

  constructor(settings: S3Settings, limits: S3Limits) {
    const { accessKeyId, secretAccessKey } = settings;
    this.settings = settings;
    this.limits = limits;
    this.client = new S3Client({
      region: settings.region,
      forcePathStyle: settings.forcePathStyle,
      ...(settings.endpoint !== undefined && { endpoint: settings.endpoint }),
      ...(accessKeyId !== undefined &&
        secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
      // This class has its own retries and timeouts.
      maxAttempts: 1,
      // Every body is signed with its SHA-256; some compatible services reject further checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      expectContinueHeader: false,
      requestHandler: {
        // A stalled reader keeps its connection, which must not block others.
        httpAgent: { keepAlive: true, maxSockets: Infinity },
        httpsAgent: { keepAlive: true, maxSockets: Infinity },
        connectionTimeout: limits.callTimeoutMs,
      },
    });
  }

  async run<T>(
    action: (signal: AbortSignal) => Promise<T>,
    {
      timeoutMs = this.limits.callTimeoutMs,
      retryBudgetMs = this.limits.retryBudgetMs,
      signal,
    }: CallOptions = {},
  ): Promise<T> {
    const until = Date.now() + retryBudgetMs;
    const limit = { timeoutMs, late: () => new CallTimeout(timeoutMs) };
    for (let attempts = 0; ; attempts += 1) {
      try {
        return await withTimeLimit(limit, (ending) => action(ending).catch(reasonOf(ending)));
      } catch (error) {
        signal?.throwIfAborted();
        const delayMs = backoffMs(backoff, attempts);
        if (!isTransient(error) || Date.now() + delayMs > until) throw this.fault(error);
        await delay(delayMs);
      }
    }
  }

  /** Returns null if the object does not exist. */
  async runOrAbsent<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    return this.run((signal) =>
      action(signal).catch((error: unknown) => {
        if (isAbsent(error)) return null;
        throw error;
      }),
    );
  }

  /**
   * Waits before the next attempt of a read that broke off.
   *
   * @throws {LecternError} for a permanent failure, or over the retry budget.
   */
  async pauseReading(
    error: unknown,
    { attempts, failingMs }: { attempts: number; failingMs: number },
  ): Promise<void> {
    if (!isTransient(error) || failingMs > this.limits.retryBudgetMs) throw this.fault(error);
    await delay(backoffMs(backoff, attempts));
  }

  /** Returns the bucket, as the parameter of a command. */
  bucket(): { Bucket: string } {
    return { Bucket: this.settings.bucket };
  }

  /** Returns an object, as the parameters of a command. */
  object(name: string): { Bucket: string; Key: string } {
    return { ...this.bucket(), Key: this.settings.prefix + name };
  }

  /** Returns the name of an object in a response. */
  nameOf(key: string | undefined): string {
    return (key ?? '').slice(this.settings.prefix.length);
  }

  fault(error: unknown): Error {
    return storeFault(error, this.settings);
  }
}

/** The SDK's error for an aborted call lacks the abort's reason. */
function reasonOf(ending: AbortSignal): (error: unknown) => never {
  return (error) => {
    throw ending.aborted ? ending.reason : error;
  };
}
