import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Delivery } from '../../shared/deliveries/outbox.ts';
import { createDeliveryQueue, deliveryJobSchema, enqueueDeliveries } from '../../shared/deliveries/queue.ts';
import type { DeliveryJob } from '../../shared/deliveries/queue.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { createWaitingRedis } from '../../shared/platform/redis.ts';
import { DeliverySender } from './delivery-sender.ts';
import type { DeliveryFormat, Outcome } from './delivery-sender.ts';

/** Concurrent jobs. They wait for targets most of the time. */
const concurrency = 16;

/** The time limit for recording the last job's end in Redis. */
const closeTimeoutMs = 2_000;

export interface DeliveryWorker {
  /** Starts taking jobs and sweeping. */
  start(): void;
  /**
   * Stops starting deliveries, and resolves when none is in progress.
   *
   * @param timeoutMs after which running attempts are aborted.
   */
  close(timeoutMs: number): Promise<void>;
}

/** An outbox with the queue that reduces its latency. */
export interface Outbox<Row extends Delivery, Claimed extends Row, Receipt> {
  format: DeliveryFormat<Row, Claimed, Receipt>;
  /** The queue whose jobs deliver rows at once; null for an outbox whose sweeps are frequent enough. */
  queueName: string | null;
  sweepIntervalMs: number;
  /** Makes rows to send, before each sweep; null for an outbox whose rows exist. */
  prepare: ((signal: AbortSignal) => Promise<void>) | null;
}

/**
 * Delivers the rows of an outbox: at once for a job, and all due rows in regular sweeps. The sweeps guarantee delivery;
 * jobs and Redis only reduce latency.
 *
 * @param deps.redis adds jobs; it may be unavailable.
 */
export function createDeliveryWorker<Row extends Delivery, Claimed extends Row, Receipt>(
  redisUrl: string,
  { format, queueName, ...outbox }: Outbox<Row, Claimed, Receipt>,
  deps: {
    redis: Redis;
    config: Pick<Config, 'redisPrefix'>;
    observeAttempt: (outcome: Outcome, seconds: number) => void;
    log: Logger;
  },
): DeliveryWorker {
  const { observeAttempt, log } = deps;
  let enqueue: (row: Delivery) => void = () => undefined;
  const sender = new DeliverySender(format, {
    log,
    onAttempt(outcome, seconds, row) {
      observeAttempt(outcome, seconds);
      if (row?.state === 'waiting') enqueue(row);
    },
  });
  const jobs = queueName === null ? null : createJobs(redisUrl, queueName, sender, deps);
  if (jobs !== null) enqueue = jobs.enqueue;
  const sweeping = startSweeps(sender, outbox, log.child({ outbox: format.name }));
  return {
    start: () => {
      jobs?.start();
      sweeping.start();
    },
    async close(timeoutMs) {
      const closed = jobs?.stop();
      sweeping.stop();
      await sender.close(timeoutMs);
      await sweeping.settled();
      await jobs?.close(closed);
    },
  };
}

/** The jobs of an outbox, each for one row. */
function createJobs(
  redisUrl: string,
  queueName: string,
  sender: { sendRow(id: string): Promise<Outcome | null> },
  { redis, config, log }: { redis: Redis; config: Pick<Config, 'redisPrefix'>; log: Logger },
) {
  const connection = createWaitingRedis(redisUrl);
  const queue = createDeliveryQueue(queueName, redis, config);
  const worker = new Worker<DeliveryJob, string>(
    queueName,
    async ({ data }) => (await sender.sendRow(deliveryJobSchema.parse(data).rowId)) ?? 'nothing to send',
    { connection, autorun: false, prefix: config.redisPrefix, concurrency },
  );
  worker.on('error', (error) => log.warn({ err: error }, `the queue ${queueName} does not respond`));
  worker.on('failed', (_job, error) =>
    log.warn({ err: error }, 'a job failed; the next sweep delivers its row'),
  );
  const closeTimeout = () => delay(closeTimeoutMs, undefined, { ref: false });
  return {
    // Without the job, a sweep finds the row.
    enqueue: (row: Delivery) => void enqueueDeliveries(queue, [row]).catch(() => undefined),
    start: () => {
      worker.run().catch((error: Error) => worker.emit('error', error));
    },
    /** Takes no more jobs; resolves when the current ones have ended. */
    stop: (): Promise<unknown> => worker.close().catch(() => undefined),
    async close(stopped: Promise<unknown> | undefined) {
      await Promise.race([stopped, closeTimeout()]);
      await Promise.race([queue.close(), closeTimeout()]);
      connection.disconnect();
    },
  };
}

/**
 * Delivers due rows, at the start and then regularly. A slow target does not delay the
 * next sweep.
 */
function startSweeps(
  sender: { sendDue(): Promise<void> },
  { prepare, sweepIntervalMs }: Pick<Outbox<never, never, never>, 'prepare' | 'sweepIntervalMs'>,
  log: Logger,
): { start(): void; stop(): void; settled: () => Promise<void> } {
  const stopping = new AbortController();
  let isFailing = false;
  const warn = (error: unknown) => {
    // Sweeps are frequent, so only the first failure is logged.
    if (!isFailing) log.warn({ err: error }, 'a sweep of the outbox failed; the next one retries');
    isFailing = true;
  };
  let preparing: Promise<void> | null = null;
  const sweep = () => {
    preparing ??= (prepare?.(stopping.signal) ?? Promise.resolve())
      .catch(warn)
      .finally(() => (preparing = null));
    void preparing
      .then(() => sender.sendDue())
      .then(() => (isFailing = false))
      .catch(warn);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    start: () => {
      sweep();
      timer = setInterval(sweep, sweepIntervalMs);
    },
    stop: () => {
      clearInterval(timer);
      stopping.abort();
    },
    settled: () => preparing ?? Promise.resolve(),
  };
}
