import pLimit from 'p-limit';
import { backoffMs } from '../../shared/platform/backoff.ts';
import { withTimeLimit } from '../../shared/platform/time-limits.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { sendScore } from '../../shared/lti/scores/send.ts';
import { ScoreFault } from '../../shared/lti/scores/service-request.ts';
import type { GradeService, ScoreFaultReason } from '../../shared/lti/scores/service-request.ts';
import { findDueTargets, tryMilliseconds } from '../../shared/deliveries/outbox.ts';
import type { Database } from '../../shared/models/database.ts';
import { findPlatformOfScore } from '../../shared/models/lti-score.ts';
import type { LtiScore, SentScore } from '../../shared/models/lti-score.ts';
import {
  claimScore,
  endAsFailed,
  endAsIdle,
  endAsSent,
  endForRetry,
  endAsDeferred,
  endAsInterrupted,
} from '../../shared/models/lti-score-changes.ts';
import type { ClaimedScore } from '../../shared/models/lti-score-changes.ts';
import { PlatformTurns, turnsAtOnce } from './platform-turns.ts';

/** Between the tries of a row. */
const backoff = { firstMs: 2_000, maxMs: 3600_000 };

/** What may pass is tried for a week, and a refusal that may be due to a restart for a quarter of an hour. */
const weekMilliseconds = 7 * 24 * 3600_000;
const quarterMilliseconds = 15 * 60_000;

/** Whoever makes a line item is done with it in moments. */
const lineItemMilliseconds = 1_000;

/** Rows at once of those that are found due. One platform has half of them at most, and each comes in its turn. */
const rowsAtOnce = 8;

/** What became of a try: sent, what kept the score from it, or that it came to nothing. */
export type TryOutcome = 'sent' | ScoreFaultReason | 'line_item_busy' | 'given_back';

export interface ScoreSenderDependencies {
  service: GradeService;
  db: Database;
  /** Hears of the end of each try; with the row as it is then, or null where somebody else has it by now. */
  onTried: (outcome: TryOutcome, seconds: number, row: LtiScore | null) => void;
  log: Logger;
}

/** The end of a try, before the row hears of it. */
type Result =
  | { outcome: 'sent'; taken: Pick<SentScore, 'lineItemUrl' | 'response'> }
  | { outcome: 'line_item_busy' | 'given_back' }
  | { outcome: ScoreFaultReason; fault: ScoreFault };

/**
 * Sends the scores that wait in the outbox: one try a row at a time, whoever else sends. A row is claimed only with a
 * turn of its platform, so that what waits for a platform that may not be asked costs nothing.
 */
export class ScoreSender {
  readonly #deps: ScoreSenderDependencies;
  readonly #turns = new PlatformTurns();
  /** First come, first served: with many platforms each has a row sent in its turn. */
  readonly #slots = pLimit(rowsAtOnce);
  /** How many go through the rows of a platform that are due. */
  readonly #sending = new Map<string, number>();
  /** Platforms of which a row was not tried for lack of a turn. */
  readonly #turnedAway = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  /** Aborted when requests are to end, done or not. */
  readonly #giveUp = new AbortController();
  #closing = false;

  constructor(deps: ScoreSenderDependencies) {
    this.#deps = deps;
  }

  /**
   * Sends a row, if it is due, its platform may be asked, and nobody else sends it. What was not tried because others
   * had all turns of its platform is sent after them.
   *
   * @returns what became of the row's try; null without one.
   */
  sendRow(id: string): Promise<TryOutcome | null> {
    return this.#track(async () => {
      const platformId = await findPlatformOfScore(this.#deps.db, id);
      if (platformId === null) return null;
      if (this.#turns.start(platformId)) return this.#useTurn(platformId, { id });
      this.#turnedAway.add(platformId);
      return null;
    });
  }

  /** Sends what is due, of all platforms side by side, until there is none; of those that may not be asked, nothing. */
  sendDue(): Promise<void> {
    return this.#track(async () => {
      if (this.#closing) return;
      const platforms = await findDueTargets(this.#deps.db.ltiScores, 'platformId');
      await Promise.all(platforms.map(({ target }) => this.#sendAllOf(target)));
    });
  }

  /**
   * Begins nothing more, and resolves when nothing is under way.
   *
   * @param milliseconds after which what is under way is given up, to be sent by others.
   */
  async close(milliseconds: number): Promise<void> {
    this.#closing = true;
    const timer = setTimeout(() => this.#giveUp.abort(new Error('this process ends')), milliseconds);
    await Promise.allSettled(this.#running);
    clearTimeout(timer);
  }

  async #track<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Has as many as there are turns go through the rows of a platform; resolves when those that begin now are done. */
  async #sendAllOf(platformId: string): Promise<void> {
    const sending = this.#sending.get(platformId) ?? 0;
    await Promise.all(Array.from({ length: turnsAtOnce - sending }, () => this.#sendSomeOf(platformId)));
  }

  async #sendSomeOf(platformId: string): Promise<void> {
    const count = (change: number) => {
      const sending = (this.#sending.get(platformId) ?? 0) + change;
      if (sending > 0) this.#sending.set(platformId, sending);
      else this.#sending.delete(platformId);
    };
    count(1);
    try {
      while (await this.#slots(() => this.#sendNext(platformId)));
    } catch (error) {
      this.#deps.log.warn({ err: error, platform: platformId }, 'scores are not sent now; they are later');
    } finally {
      count(-1);
    }
  }

  /** @returns false when nothing is due, or may be asked. */
  async #sendNext(platformId: string): Promise<boolean> {
    if (this.#closing || !this.#turns.start(platformId)) return false;
    return (await this.#useTurn(platformId, { platformId })) !== null;
  }

  /** Tries one row, and ends the turn, whatever happens. */
  async #useTurn(
    platformId: string,
    which: { id: string } | { platformId: string },
  ): Promise<TryOutcome | null> {
    let result: Result | null = null;
    try {
      const row = this.#closing ? null : await claimScore(this.#deps.db, which);
      if (row === null) return null;
      const started = performance.now();
      result = await this.#try(row);
      const ended = await this.#end(row, result);
      this.#deps.onTried(result.outcome, (performance.now() - started) / 1000, ended);
      return result.outcome;
    } finally {
      this.#endTurn(platformId, result);
    }
  }

  #endTurn(platformId: string, result: Result | null): void {
    const fault = result !== null && 'fault' in result ? result.fault : null;
    const state = result?.outcome === 'sent' ? 'well' : (fault?.platform ?? 'unknown');
    this.#turns.end(platformId, state, fault?.retryAfterMs ?? 0);
    if (!this.#turnedAway.delete(platformId) || this.#closing) return;
    void this.#track(() => this.#sendAllOf(platformId));
  }

  async #try(row: ClaimedScore): Promise<Result> {
    const { service, db } = this.#deps;
    const limit = { timeoutMs: tryMilliseconds, signal: this.#giveUp.signal, late: tookTooLong };
    try {
      const taken = await withTimeLimit(limit, (ending) => sendScore({ ...service, db }, row, ending));
      return taken === null ? { outcome: 'line_item_busy' } : { outcome: 'sent', taken };
    } catch (error) {
      if (this.#giveUp.signal.aborted) return { outcome: 'given_back' };
      const fault = this.#faultOf(error, row);
      return { outcome: fault.reason, fault };
    }
  }

  #faultOf(error: unknown, { _id: score }: ClaimedScore): ScoreFault {
    if (error instanceof ScoreFault) return error;
    this.#deps.log.error({ err: error, score }, 'a score could not be sent, for a fault of ours');
    return new ScoreFault('internal_error', 'A fault of Lectern; its log has more');
  }

  /** The row as it is then; null where somebody else has it by now. */
  #end(row: ClaimedScore, result: Result): Promise<LtiScore | null> {
    const { db } = this.#deps;
    if ('taken' in result) return endAsSent(db, row, result.taken);
    if ('fault' in result) return this.#endWith(result.fault, row);
    if (result.outcome === 'given_back') return endAsInterrupted(db, row);
    return endAsDeferred(db, row, lineItemMilliseconds);
  }

  async #endWith(fault: ScoreFault, row: ClaimedScore): Promise<LtiScore | null> {
    const { db, log } = this.#deps;
    const { reason, status, body, retry, message } = fault;
    if (retry === 'moot') return endAsIdle(db, row);
    const failure = { at: new Date(), reason, status, body: body ?? message };
    const retryAfterMs = Math.min(fault.retryAfterMs ?? 0, backoff.maxMs);
    const ended =
      retry === 'none'
        ? await endAsFailed(db, row, failure)
        : await endForRetry(db, row, {
            failure,
            milliseconds: Math.round(backoffMs(backoff, row.tries, { retryAfterMs })),
            patience: {
              atAll: weekMilliseconds,
              sameReason: retry === 'long' ? weekMilliseconds : quarterMilliseconds,
            },
          });
    const details = { score: row._id, platform: row.platformId, reason, status, tries: row.tries + 1 };
    if (ended?.state === 'failed') log.warn(details, 'a score is not sent: see lectern lti scores --failed');
    else log.info(details, 'a score is tried again later');
    return ended;
  }
}

function tookTooLong(): ScoreFault {
  return new ScoreFault('timeout', 'The platform took too long');
}
