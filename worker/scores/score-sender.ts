import type { Logger } from '../../shared/log.ts';
import { sendScore } from '../../shared/lti/scores/send.ts';
import { ScoreFault } from '../../shared/lti/scores/service-request.ts';
import type { GradeService, ScoreFaultReason } from '../../shared/lti/scores/service-request.ts';
import type { Database } from '../../shared/models/database.ts';
import type { LtiScore } from '../../shared/models/lti-score.ts';
import {
  claimScore,
  endAsFailed,
  endAsSent,
  endToTryAgain,
  giveBackScore,
  tryMilliseconds,
} from '../../shared/models/lti-score-changes.ts';
import type { ClaimedScore } from '../../shared/models/lti-score-changes.ts';
import { PlatformTurns } from './platform-turns.ts';

/** Of the pause before a row's second try; each further one is twice as long, up to the longest. */
const firstPauseMilliseconds = 2_000;
const longestPauseMilliseconds = 3600_000;

/** What may pass is tried for a week, and a refusal that may be due to a restart for a quarter of an hour. */
const weekMilliseconds = 7 * 24 * 3600_000;
const quarterMilliseconds = 15 * 60_000;

/** Whoever makes a line item is done with it in moments. */
const lineItemMilliseconds = 1_000;

/** What became of a try: sent, what kept the score from it, or that it came to nothing. */
export type TryOutcome = 'sent' | ScoreFaultReason | 'line_item_busy' | 'given_back';

export interface ScoreSenderDependencies {
  service: GradeService;
  db: Database;
  /** Hears of the end of each try; with the row as it is then, or null where somebody else has it by now. */
  onTried: (outcome: TryOutcome, seconds: number, row: LtiScore | null) => void;
  log: Logger;
}

/** Sends the scores that wait in the outbox: one try a row at a time, whoever else sends. */
export class ScoreSender {
  readonly #deps: ScoreSenderDependencies;
  readonly #turns = new PlatformTurns();
  readonly #running = new Set<Promise<unknown>>();
  /** Aborted when requests are to end, done or not. */
  readonly #giveUp = new AbortController();
  #closing = false;

  constructor(deps: ScoreSenderDependencies) {
    this.#deps = deps;
  }

  /**
   * Sends a row, if it is due and nobody else sends it, and then what else is due for its platform.
   *
   * @returns what became of the row's try; null without one.
   */
  sendRow(id: string): Promise<TryOutcome | null> {
    return this.#track(async () => {
      const row = await this.#claim({ id });
      if (row === null) return null;
      const outcome = await this.#try(row);
      // Others were sent away for lack of a turn.
      await this.#sendAll({ platformId: row.platformId });
      return outcome;
    });
  }

  /** Sends what is due, one row after the other, until there is none. */
  sendDue(): Promise<void> {
    return this.#track(() => this.#sendAll({}));
  }

  /**
   * Begins nothing more, and resolves when nothing is under way.
   *
   * @param milliseconds after which what is under way is given up, to be sent by others.
   */
  async close(milliseconds: number): Promise<void> {
    this.#closing = true;
    const timer = setTimeout(() => this.#giveUp.abort(), milliseconds);
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

  async #sendAll(which: { platformId?: string }): Promise<void> {
    for (let row = await this.#claim(which); row !== null; row = await this.#claim(which))
      await this.#try(row);
  }

  async #claim(which: { id?: string; platformId?: string }): Promise<ClaimedScore | null> {
    if (this.#closing) return null;
    const row = await claimScore(this.#deps.db, { ...which, without: this.#turns.blocked() });
    if (row === null || this.#turns.start(row.platformId)) return row;
    // Others were faster by a moment; they go on with it.
    await giveBackScore(this.#deps.db, row, 0);
    return null;
  }

  async #try(row: ClaimedScore): Promise<TryOutcome> {
    const { db, onTried } = this.#deps;
    const started = performance.now();
    let trouble: number | null = null;
    let outcome: TryOutcome = 'sent';
    let ended: LtiScore | null;
    try {
      const taken = await this.#send(row);
      if (taken === null) outcome = 'line_item_busy';
      ended =
        taken === null ? await giveBackScore(db, row, lineItemMilliseconds) : await endAsSent(db, row, taken);
    } catch (error) {
      if (this.#giveUp.signal.aborted) {
        outcome = 'given_back';
        ended = await giveBackScore(db, row, 0);
      } else {
        const fault = this.#faultOf(error, row);
        outcome = fault.reason;
        if (fault.platform === 'trouble') trouble = fault.retryAfter ?? 0;
        ended = await this.#endWith(fault, row);
      }
    } finally {
      this.#turns.end(row.platformId, trouble);
    }
    onTried(outcome, (performance.now() - started) / 1000, ended);
    return outcome;
  }

  async #send(row: ClaimedScore): ReturnType<typeof sendScore> {
    const { service, db } = this.#deps;
    // Not AbortSignal.any: on Node 20 a signal that lives as long as the process keeps something of every other.
    const ending = new AbortController();
    const late = new ScoreFault('timeout', 'The platform took too long');
    const timer = setTimeout(() => ending.abort(late), tryMilliseconds);
    const giveUp = () => ending.abort(new Error('this process ends'));
    this.#giveUp.signal.addEventListener('abort', giveUp);
    try {
      return await sendScore({ ...service, db }, row, ending.signal);
    } finally {
      clearTimeout(timer);
      this.#giveUp.signal.removeEventListener('abort', giveUp);
    }
  }

  #faultOf(error: unknown, { _id: score }: ClaimedScore): ScoreFault {
    if (error instanceof ScoreFault) return error;
    this.#deps.log.error({ err: error, score }, 'a score could not be sent, for a fault of ours');
    return new ScoreFault('internal_error', 'A fault of Lectern; its log has more');
  }

  async #endWith(fault: ScoreFault, row: ClaimedScore): Promise<LtiScore | null> {
    const { db, log } = this.#deps;
    const { reason, status, body, patience, message } = fault;
    const failure = { at: new Date(), reason, status, body: body ?? message };
    const ended =
      patience === 'none'
        ? await endAsFailed(db, row, failure)
        : await endToTryAgain(db, row, {
            failure,
            milliseconds: pauseAfter(row.tries, fault.retryAfter),
            patience: {
              atAll: weekMilliseconds,
              sameReason: patience === 'long' ? weekMilliseconds : quarterMilliseconds,
            },
          });
    const details = { score: row._id, platform: row.platformId, reason, status, tries: row.tries + 1 };
    if (ended?.state === 'failed') log.warn(details, 'a score is not sent: see lectern lti scores --failed');
    else log.info(details, 'a score is tried again later');
    return ended;
  }
}

/** In milliseconds; a row's tries spread, so that those of an outage do not all come at once when it is over. */
function pauseAfter(tries: number, retryAfter: number | null): number {
  const pause = Math.min(firstPauseMilliseconds * 2 ** Math.min(tries, 20), longestPauseMilliseconds);
  const asked = Math.min(retryAfter ?? 0, longestPauseMilliseconds);
  return Math.round(Math.max(pause * (0.5 + Math.random() / 2), asked));
}
