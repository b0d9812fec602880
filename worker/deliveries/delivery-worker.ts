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

const sweepIntervalMs = 30_000;

/** How long Redis has to record the last job's end. */
const closeTimeoutMs = 2_000;

export interface DeliveryWorker {
  /** Starts to take jobs, and to sweep. */
  start(): void;
  /**
   * Starts nothing more, and resolves when nothing is in progress.
   *
   * @param timeoutMs after which running attempts are aborted.
   */
  close(timeoutMs: number): Promise<void>;
}

/** An outbox with the queue that reduces its latency. */
export interface Outbox<Row extends Delivery, Claimed extends Row, Receipt> {
  format: DeliveryFormat<Row, Claimed, Receipt>;
  queueName: string;
  /**
   * Publishes to the outbox what a crash kept from being published.
   *
   * @returns how much there was.
   */
  publishDue: (signal: AbortSignal) => Promise<number>;
}

/**
 * Delivers the rows of an outbox: at once when a job asks for it, and whatever is due in a sweep every 30 seconds.
 * The sweep guarantees delivery; jobs and Redis only reduce latency.
 *
 * @param deps.redis adds jobs; it may be unavailable.
 */
export function createDeliveryWorker<Row extends Delivery, Claimed extends Row, Receipt>(
  redisUrl: string,
  { format, queueName, publishDue }: Outbox<Row, Claimed, Receipt>,
  deps: {
    redis: Redis;
    config: Pick<Config, 'redisPrefix'>;
    observeAttempt: (outcome: Outcome, seconds: number) => void;
    log: Logger;
  },
): DeliveryWorker {
  const { redis, config, observeAttempt, log } = deps;
  const connection = createWaitingRedis(redisUrl);
  const queue = createDeliveryQueue(queueName, redis, config);
  const sender = new DeliverySender(format, {
    log,
    onAttempt(outcome, seconds, row) {
      observeAttempt(outcome, seconds);
      if (row?.state !== 'waiting') return;
      // Without the job, a sweep finds the row.
      enqueueDeliveries(queue, [row]).catch(() => undefined);
    },
  });
  const worker = new Worker<DeliveryJob, string>(
    queueName,
    async ({ data }) => (await sender.sendRow(deliveryJobSchema.parse(data).rowId)) ?? 'nothing to send',
    { connection, autorun: false, prefix: config.redisPrefix, concurrency },
  );
  worker.on('error', (error) => log.warn({ err: error }, `the queue ${queueName} does not respond`));
  worker.on('failed', (_job, error) =>
    log.warn({ err: error }, 'a job failed; the next sweep delivers its row'),
  );
  const sweeping = startSweeps(sender, publishDue, log.child({ outbox: format.name }));
  return {
    start: () => {
      worker.run().catch((error: Error) => worker.emit('error', error));
      sweeping.start();
    },
    async close(timeoutMs) {
      const closed = worker.close().catch(() => undefined);
      sweeping.stop();
      await sender.close(timeoutMs);
      await sweeping.settled();
      await Promise.race([closed, delay(closeTimeoutMs, undefined, { ref: false })]);
      await Promise.race([queue.close(), delay(closeTimeoutMs, undefined, { ref: false })]);
      connection.disconnect();
    },
  };
}

/** Publishes and delivers what is due, at the start and then regularly. A slow target does not delay the next sweep. */
function startSweeps(
  sender: { sendDue(): Promise<void> },
  publishDue: (signal: AbortSignal) => Promise<number>,
  log: Logger,
): { start(): void; stop(): void; settled: () => Promise<void> } {
  const stopping = new AbortController();
  const warn = (error: unknown) =>
    log.warn({ err: error }, 'a sweep of the outbox failed; the next one retries');
  let publishing: Promise<void> | null = null;
  const publish = async () => {
    const count = await publishDue(stopping.signal);
    if (count > 0) log.info({ count }, 'published what a stopped process had left out of the outbox');
  };
  const sweep = () => {
    publishing ??= publish()
      .catch(warn)
      .finally(() => (publishing = null));
    void publishing.then(() => sender.sendDue()).catch(warn);
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
    settled: () => publishing ?? Promise.resolve(),
  };
}
