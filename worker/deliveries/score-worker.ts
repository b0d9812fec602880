import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { publishDueScores } from '../../shared/lti/scores/publish-to-outbox.ts';
import {
  createScoreQueue,
  enqueueScores,
  scoreJobSchema,
  scoreQueueName,
} from '../../shared/lti/scores/queue.ts';
import type { ScoreJob } from '../../shared/lti/scores/queue.ts';
import type { GradeService } from '../../shared/lti/scores/service-request.ts';
import type { Database } from '../../shared/models/database.ts';
import { createWaitingRedis } from '../../shared/platform/redis.ts';
import { ScoreSender } from './score-sender.ts';
import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { TryOutcome } from './score-sender.ts';

/** Jobs at once. They wait for platforms most of the time. */
const jobs = 16;

const sweepMilliseconds = 30_000;

/** How long Redis has to hear that the last job is done. */
const farewellMilliseconds = 2_000;

export interface ScoreWorker {
  /** Takes jobs from now on, and looks for what is due. */
  start(): void;
  /**
   * Begins nothing more, and resolves when nothing is under way.
   *
   * @param milliseconds after which what is under way is left to others.
   */
  close(milliseconds: number): Promise<void>;
}

/**
 * Sends scores to learning platforms: at once where a job asks for it, and, from time to time, whatever the outbox in
 * MongoDB has that is due. The second is what counts; jobs and Redis only spare waiting for it.
 *
 * @param redis on which jobs are added; it may be away.
 */
export function createScoreWorker(
  redisUrl: string,
  {
    redis,
    config,
    metrics,
    ...deps
  }: {
    redis: Redis;
    service: GradeService;
    db: Database;
    config: Pick<Config, 'redisPrefix'>;
    metrics: ScoreTries;
    log: Logger;
  },
): ScoreWorker {
  const { db, log } = deps;
  const connection = createWaitingRedis(redisUrl);
  const queue = createScoreQueue(redis, config);
  const sender = new ScoreSender({
    ...deps,
    onTried(outcome, seconds, row) {
      metrics.tried(outcome, seconds);
      if (row?.state !== 'waiting') return;
      // Without the job a sweep finds the row.
      enqueueScores(queue, [row]).catch(() => undefined);
    },
  });
  const worker = new Worker<ScoreJob, string>(
    scoreQueueName,
    async ({ data }) => (await sender.sendRow(scoreJobSchema.parse(data).scoreId)) ?? 'nothing to send',
    { connection, autorun: false, prefix: config.redisPrefix, concurrency: jobs },
  );
  worker.on('error', (error) => log.warn({ err: error }, 'the queue of scores does not answer'));
  worker.on('failed', (_job, error) => log.warn({ err: error }, 'a job failed; its score is sent later'));
  const sweeping = createSweeping(sender, db, log);
  return {
    start: () => {
      worker.run().catch((error: Error) => worker.emit('error', error));
      sweeping.start();
    },
    async close(milliseconds) {
      const closed = worker.close().catch(() => undefined);
      sweeping.stop();
      await sender.close(milliseconds);
      await sweeping.settled();
      await Promise.race([closed, delay(farewellMilliseconds, undefined, { ref: false })]);
      await Promise.race([queue.close(), delay(farewellMilliseconds, undefined, { ref: false })]);
      connection.disconnect();
    },
  };
}

/** Passes on what is due and sends it, now and from time to time; a look for rows waits for no other's rows. */
function createSweeping(
  sender: ScoreSender,
  db: Database,
  log: Logger,
): { start(): void; stop(): void; settled: () => Promise<void> } {
  const stopping = new AbortController();
  const passOn = oneAtATime(async () => {
    const records = await publishDueScores(db, stopping.signal);
    if (records > 0) log.info({ records }, 'found records whose scores nobody had passed on');
  }, log);
  const sweep = () =>
    void passOn
      .run()
      .then(() => sender.sendDue())
      .catch((error: unknown) => log.warn({ err: error }, sweepFailed));
  let timer: NodeJS.Timeout | undefined;
  return {
    start: () => {
      sweep();
      timer = setInterval(sweep, sweepMilliseconds);
    },
    stop: () => {
      clearInterval(timer);
      stopping.abort();
    },
    settled: passOn.settled,
  };
}

const sweepFailed = 'a sweep of scores failed; it is tried again later';

/** Runs work that is not to run twice at once; whoever calls meanwhile gets the end of the run that is under way. */
function oneAtATime(
  work: () => Promise<void>,
  log: Logger,
): { run: () => Promise<void>; settled: () => Promise<void> } {
  let running: Promise<void> | null = null;
  const run = () =>
    (running ??= work()
      .catch((error: unknown) => log.warn({ err: error }, sweepFailed))
      .finally(() => (running = null)));
  return { run, settled: () => running ?? Promise.resolve() };
}

/** From a platform near by to the deadline of a try. */
const tryBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What has become of scores that this process tried to send to learning platforms, for Prometheus. */
interface ScoreTries {
  tried(outcome: TryOutcome, seconds: number): void;
}

/** Adds the tries of this process to a registry. */
export function registerScoreTries(registry: Registry): ScoreTries {
  const tries = new Histogram({
    name: 'lectern_lti_score_tries_seconds',
    help: 'Tries to send a score to a learning platform, by outcome: sent, or what kept it from being sent.',
    labelNames: ['outcome'],
    buckets: tryBuckets,
    registers: [registry],
  });
  return { tried: (outcome, seconds) => tries.observe({ outcome }, seconds) };
}
