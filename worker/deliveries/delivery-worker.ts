import type { Delivery } from '../../shared/deliveries/outbox.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';
import { DeliverySender } from './delivery-sender.ts';
import type { DeliveryFormat, Outcome } from './delivery-sender.ts';

/** Rows that are due leave within this time. */
const sweepIntervalMs = 1_000;

export interface DeliveryWorker {
  /** Starts to send the rows that are due. */
  start(): void;
  /**
   * Stops starting deliveries, and resolves when none is in progress.
   *
   * @param timeoutMs after which running attempts are aborted.
   */
  close(timeoutMs: number): Promise<void>;
}

/**
 * Delivers the due rows of an outbox in sweeps. A slow target delays no other, and not the next sweep.
 *
 * @param deps.prepare makes rows; those that it has made are sent at once.
 */
export function createDeliveryWorker<Row extends Delivery, Receipt>(
  format: DeliveryFormat<Row, Receipt>,
  {
    prepare,
    observeAttempt: onAttempt,
    ...deps
  }: {
    prepare?: (signal: AbortSignal) => Promise<void>;
    observeAttempt: (outcome: Outcome, seconds: number) => void;
    log: Logger;
  },
): DeliveryWorker {
  const log = deps.log.child({ outbox: format.name });
  const sender = new DeliverySender(format, { log, onAttempt });
  // Sweeps are frequent, so only the first failure is logged.
  const warn = (error: unknown, isFirst: boolean) => {
    if (isFirst) log.warn({ err: error }, 'a sweep of the outbox failed; the next one retries');
  };
  let isFailing = false;
  const sweep = () => {
    sender.sendDue().then(
      () => (isFailing = false),
      (error: unknown) => {
        warn(error, !isFailing);
        isFailing = true;
      },
    );
  };
  let timer: NodeJS.Timeout | undefined;
  let preparing: Repetition | undefined;
  return {
    start() {
      sweep();
      timer = setInterval(sweep, sweepIntervalMs);
      if (prepare === undefined) return;
      preparing = repeat((signal) => prepare(signal).then(sweep), sweepIntervalMs, warn);
    },
    async close(timeoutMs) {
      clearInterval(timer);
      const prepared = preparing?.stop();
      await sender.close(timeoutMs);
      await prepared;
    },
  };
}
