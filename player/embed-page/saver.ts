import { backoffMs } from '../../shared/platform/backoff.ts';
import { randomId } from '../older-browsers.ts';
import { bodyOf, keptAtRestart, newestOf, nextFacts, projected, withVisitsOf } from './facts.ts';
import type { Fact, FactContent, GivenAnswer, Write } from './facts.ts';
import type { FactStore } from './fact-store.ts';
import type { SessionClient, WriteResponse } from './session-client.ts';
import type { SessionRecord, StepPosition } from './session-record.ts';

/** The reason why the saver sends nothing. It still accepts changes. */
export type Hold =
  /** The server rejected the token. */
  | 'expired'
  /** The lesson is no longer available. */
  | 'gone'
  /** The learner's data were erased: the page reloads, and removes what the browser stores. */
  | 'erased';

/** A learner's action on the step at a position. */
export interface Change extends Omit<FactContent, 'isDraft'> {
  position: StepPosition;
  /** Milliseconds since the answer, 0 by default. Widgets may report an answer later. */
  ageMs?: number;
  restart?: true;
}

/** The state of saving. */
export interface SaverState {
  hold: Hold | null;
  /** The number of consecutive failed requests. */
  failures: number;
  /** The number of facts that the server does not have yet. */
  unsent: number;
}

export interface SaverOptions {
  record: SessionRecord;
  versionId: string;
  /** Returns the only version that the token can write; undefined for any. */
  pinned(this: void): string | undefined;
  client: Pick<SessionClient, 'send' | 'now'>;
  store: FactStore;
  /** False for a session that is not recorded: nothing is stored or sent. */
  isRecorded: boolean;
  onChange(this: void): void;
  onSaved(this: void, record: SessionRecord, facts: readonly Fact[]): void;
  /** Called when the server refuses an answer. */
  onLost(this: void): void;
}

/** Answers within this time become one write. */
const debounceMs = 500;
const backoff = { firstMs: 1000, maxMs: 60_000 };
/** The longest Retry-After delay that the saver accepts. */
const maxRetryAfterMs = 600_000;
/** Browsers send at most 64 KiB for a closed page. A character of JSON has at most three bytes. */
const maxLastChars = 20 * 1024;

/** Saves a learner's progress: connects facts with storage, network, clock and timers. */
export class Saver {
  readonly #options: SaverOptions;
  #record: SessionRecord;
  #shown: SessionRecord;
  /** The attempt of this tab, which may be newer than the record's. */
  #attempt: number;
  #hold: Hold | null = null;
  #failures = 0;
  #stepTimes: Record<string, number> | undefined;
  /** The write that was sent last, until the server has responded. */
  #pending: Write | undefined;
  #isSending = false;
  /** Ids of the facts that there were when the request was sent. */
  #known = new Set<string>();
  /** Ids of facts that the server has refused together. */
  readonly #alone = new Set<string>();
  /** Ids of this tab's drafts. */
  readonly #drafts = new Set<string>();
  /** When debounced facts are sent; null if there are none. */
  #dueAt: number | null = null;
  /** The end of the backoff. */
  #notBefore = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SaverOptions) {
    this.#options = options;
    this.#record = options.record;
    this.#attempt = Math.max(options.record.attempt, ...options.store.all().map(({ attempt }) => attempt));
    this.#shown = options.record;
    // A tab that was closed may have left drafts.
    this.#submitDrafts(() => true);
    this.show();
    this.#pump();
  }

  get state(): SaverState {
    return { hold: this.#hold, failures: this.#failures, unsent: this.#unsent().length };
  }

  /** The server's record, as far as this tab knows it, with everything unsent. */
  get record(): SessionRecord {
    return projected(this.#record, this.#unsent());
  }

  /** What the frame shows: the record when the lesson was mounted, with everything that this tab has done since. */
  get shown(): SessionRecord {
    return this.#shown;
  }

  /** Returns the record for mounting the lesson. */
  show(): SessionRecord {
    this.#shown = this.record;
    return this.#shown;
  }

  /** Whether the browser stores unsent facts; otherwise they are lost with the page. */
  get isStored(): boolean {
    return !this.#options.isRecorded || this.#options.store.isLasting();
  }

  get hasDrafts(): boolean {
    return this.#options.store.all().some(({ id }) => this.#drafts.has(id));
  }

  /** Whether facts of an earlier version are unsent. */
  get hasOlderVersion(): boolean {
    return this.#sendable().some(({ versionId }) => versionId !== this.#options.versionId);
  }

  change({ position, answer, variable, progressData, completed, restart, ageMs }: Change): void {
    if (restart) this.#restart();
    const made = [this.#add(position, {})];
    if (answer) made.push(this.#add(position, { answer }, ageMs));
    if (variable) made.push(this.#add(position, { variable }));
    if (progressData) made.push(this.#add(position, { progressData }));
    if (completed) made.push(this.#add(position, { completed }));
    const isUrgent = restart === true || (progressData !== undefined && !answer && !variable);
    this.#changed(isUrgent ? 0 : debounceMs);
    if (!this.#options.isRecorded) this.#options.onSaved(this.#record, made);
  }

  /** Adds active time on a step, for the next write. */
  time(stepId: string, activeMs: number): void {
    this.#stepTimes = { ...this.#stepTimes, [stepId]: (this.#stepTimes?.[stepId] ?? 0) + activeMs };
  }

  /** Stores a widget's unsubmitted answer. It is sent when the page is hidden, or at the next visit. */
  draft(position: StepPosition, answer: GivenAnswer, ageMs: number): void {
    if (this.#options.isRecorded) this.#drafts.add(this.#add(position, { answer, isDraft: true }, ageMs).id);
  }

  /** Removes the drafts of a widget, or all of this tab when the learner leaves their step. */
  dropDrafts(widget?: { stepId: string; widgetId: string }): void {
    const { store } = this.#options;
    for (const fact of store.all()) {
      const isOf = widget
        ? fact.answer?.stepId === widget.stepId && fact.answer.widgetId === widget.widgetId
        : this.#drafts.has(fact.id);
      if (fact.isDraft && isOf) store.remove(fact);
    }
  }

  /** Resumes with a new token. */
  renewed(): void {
    if (this.#hold !== 'expired') return;
    this.#hold = null;
    this.#failures = 0;
    this.skipWait();
  }

  /** Retries at once, because the network may be back. */
  skipWait(): void {
    this.#notBefore = 0;
    this.#changed(0);
  }

  /** Sends what it can at once, because the page may close. @param position the step that is shown */
  flush(position: StepPosition): void {
    const { isRecorded, client, onChange } = this.#options;
    if (!isRecorded) return;
    this.#submitDrafts(({ id }) => this.#drafts.has(id));
    if (this.#stepTimes) this.#add(position, {});
    if (this.#isSending) this.#renewLater();
    onChange();
    if (this.#hold !== null) return;
    // The request may be the last one of the page. What it lacks is sent at the next visit.
    const inFlight = new Set(this.#isSending ? this.#pending?.facts.map(({ id }) => id) : []);
    const fresh = this.#sendable().filter(({ id }) => !inFlight.has(id));
    const repeated = this.#isSending ? undefined : this.#pending;
    const last = repeated ?? this.#nextWrite(fresh, maxLastChars);
    if (last === undefined) return;
    // If the page stays, its next request repeats this one.
    this.#pending ??= last;
    const body = bodyOf(last, this.#record, client.now());
    void client.send(body).then((response) => this.#settle(last, response));
  }

  #unsent(): Fact[] {
    return this.#options.store.all().filter(({ isDraft }) => isDraft !== true);
  }

  #sendable(): Fact[] {
    const pinned = this.#options.pinned();
    return this.#unsent().filter(({ versionId }) => pinned === undefined || versionId === pinned);
  }

  #add(position: StepPosition, content: FactContent, ageMs = 0): Fact {
    const { client, store, versionId, isRecorded } = this.#options;
    const at = client.now() - ageMs;
    const fact: Fact = { ...content, id: randomId(), at, attempt: this.#attempt, versionId, position };
    if (isRecorded) store.put(fact);
    else this.#record = projected(this.#record, [fact]);
    if (!fact.isDraft) this.#shown = projected(this.#shown, [fact]);
    return fact;
  }

  #restart(): void {
    const { store } = this.#options;
    const facts = store.all();
    const { attempt, attemptCompleted } = this.#record;
    const kept = new Set(keptAtRestart(facts, attemptCompleted ? attempt : 0));
    for (const fact of facts) if (!kept.has(fact)) store.remove(fact);
    this.#attempt += 1;
  }

  /** Makes answers of drafts. */
  #submitDrafts(isChosen: (fact: Fact) => boolean): void {
    const { store } = this.#options;
    for (const fact of store.all()) {
      if (fact.isDraft !== true || !isChosen(fact)) continue;
      store.remove(fact);
      const answer = { ...fact, isDraft: undefined, id: randomId() };
      store.put(answer);
      this.#shown = projected(this.#shown, [answer]);
    }
  }

  #changed(delayMs: number): void {
    this.#dueAt = Math.min(this.#dueAt ?? Infinity, this.#options.client.now() + delayMs);
    this.#options.onChange();
    this.#pump();
  }

  #pump(): void {
    clearTimeout(this.#timer);
    if (this.#isSending || this.#hold !== null) return;
    if (this.#pending === undefined && this.#sendable().length === 0) return;
    const waitMs = Math.max(this.#dueAt ?? 0, this.#notBefore) - this.#options.client.now();
    if (waitMs > 0) this.#timer = setTimeout(() => this.#pump(), waitMs);
    else void this.#sendNext();
  }

  #nextWrite(facts: readonly Fact[], maxChars?: number): Write | undefined {
    const chosen = nextFacts(facts, this.#alone, maxChars);
    const [first] = chosen;
    if (first === undefined) return undefined;
    const isSame = ({ attempt, versionId }: Fact) =>
      attempt === first.attempt && versionId === first.versionId;
    const { position } = newestOf(facts.filter(isSame));
    const write = { writeId: randomId(), facts: chosen, position };
    // The active time may be what the server has refused.
    if (this.#alone.has(first.id)) return { ...write, stepTimes: undefined };
    const stepTimes = this.#stepTimes;
    this.#stepTimes = undefined;
    return { ...write, stepTimes };
  }

  async #sendNext(): Promise<void> {
    const { client } = this.#options;
    this.#pending ??= this.#nextWrite(this.#sendable());
    const write = this.#pending;
    if (write === undefined) return;
    this.#isSending = true;
    this.#known = new Set(this.#options.store.all().map(({ id }) => id));
    this.#dueAt = null;
    const response = await client.send(bodyOf(write, this.#record, client.now()));
    this.#renewLater();
    this.#isSending = false;
    this.#settle(write, response);
    this.#pump();
  }

  /** What happens during a request is newer than what it says, however late that arrives. */
  #renewLater(): void {
    const { store, client } = this.#options;
    for (const fact of store.all()) if (!this.#known.has(fact.id)) store.put({ ...fact, at: client.now() });
  }

  #settle(write: Write, response: WriteResponse): void {
    if (response.kind === 'failed') {
      const retryAfterMs = Math.min(maxRetryAfterMs, response.retryAfterMs);
      this.#notBefore = this.#options.client.now() + backoffMs(backoff, this.#failures, { retryAfterMs });
      this.#failures += 1;
    } else {
      if (this.#pending === write) this.#pending = undefined;
      this.#failures = 0;
      this.#notBefore = 0;
      if (response.kind === 'saved') this.#onSaved(write, response.record);
      else if (response.kind === 'refused') this.#onRefused(write);
      else this.#hold = response.kind;
    }
    this.#options.onChange();
  }

  #onSaved({ facts }: Write, merged: SessionRecord): void {
    const { store, versionId, onSaved } = this.#options;
    for (const fact of facts) store.remove(fact);
    // Positions in another version mean nothing in this one.
    if (merged.versionId === versionId) {
      this.#record = merged;
      this.#addVisits(merged);
    }
    this.#attempt = Math.max(this.#attempt, merged.attempt);
    onSaved(merged, facts);
  }

  /** Reports visited steps that the record lacks: what another device has sent replaced those of this one. */
  #addVisits(merged: SessionRecord): void {
    const progressData = withVisitsOf(this.#shown, merged);
    // What is unsent may be newer, also its position.
    if (progressData === null || this.#unsent().length > 0) return;
    const { attempt, currentSectionIndex: sectionIndex, currentStepIndex: stepIndex } = merged;
    const { client, store, versionId } = this.#options;
    const position = { sectionIndex, stepIndex, stepId: '' };
    store.put({ id: randomId(), at: client.now(), attempt, versionId, position, progressData });
  }

  /** Repeats a refused write fact by fact, without its active time, and drops the fact that is refused alone. */
  #onRefused({ facts, stepTimes }: Write): void {
    const [fact, ...others] = facts;
    if (others.length > 0 || fact === undefined || stepTimes !== undefined) {
      for (const { id } of facts) this.#alone.add(id);
      return;
    }
    this.#options.store.remove(fact);
    if (fact.answer ?? fact.variable ?? fact.completed) this.#options.onLost();
  }
}
