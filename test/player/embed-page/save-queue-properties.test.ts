import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adopt, leftoverOf } from '../../../player/embed-page/abandoned-saves.ts';
import type { Leftover } from '../../../player/embed-page/abandoned-saves.ts';
import { answered, goOnHere, takeAll, takeNext, waitTime } from '../../../player/embed-page/save-queue.ts';
import type { SaveQueue } from '../../../player/embed-page/save-queue.ts';
import { projected } from '../../../player/embed-page/queued-write.ts';
import type { WriteBody } from '../../../player/embed-page/queued-write.ts';
import type { Place } from '../../../player/embed-page/session-record.ts';
import { versionId } from '../../progress/build-progress.ts';
import { answerOf, contextAt, newQueue, places, SessionRules, start, withChanges } from './learner-queue.ts';

const stepNames = ['intro', 'quiz', 'end'] as const;
const questions = [
  ['quiz', 'q1'],
  ['quiz', 'q2'],
  ['quiz', 'dial'],
  ['end', 'q1'],
] as const;

type Event =
  | { kind: 'go'; step: keyof typeof places }
  | { kind: 'answer'; question: number }
  | { kind: 'send'; fate: 'arrives' | 'is lost' | 'arrives, its answer is lost' }
  | { kind: 'arrival' }
  | { kind: 'hide' }
  | { kind: 'reopen' }
  | { kind: 'restart' };

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('go' as const), step: fc.constantFrom(...stepNames) }),
  fc.record({ kind: fc.constant('answer' as const), question: fc.nat(questions.length - 1) }),
  fc.record({
    kind: fc.constant('send' as const),
    fate: fc.constantFrom('arrives' as const, 'is lost' as const, 'arrives, its answer is lost' as const),
  }),
  fc.record({ kind: fc.constantFrom('arrival' as const, 'hide' as const, 'reopen' as const) }),
);

const anyEventOrRestart = fc.oneof(
  { weight: 7, arbitrary: anyEvent },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

/** A learner whose browser loses requests, closes in mid-write, and opens again. */
class Browser {
  queue: SaveQueue;
  place: Place = places.intro;
  /** The last answer to each question. */
  readonly given = new Map<string, number>();
  /** How often the learner had to decide where to continue. */
  conflicts = 0;
  readonly #server: SessionRules;
  /** Writes of closed pages that have not arrived yet. */
  #late: WriteBody[] = [];

  constructor(server: SessionRules) {
    this.#server = server;
    this.queue = newQueue(server.record());
  }

  meet(event: Event, now: number): void {
    switch (event.kind) {
      case 'go':
        this.place = places[event.step];
        this.queue = withChanges(this.queue, [{ place: this.place }], now);
        return;
      case 'answer':
        return this.#answer(event.question, now);
      case 'send':
        return this.#send(event.fate, now);
      case 'arrival': {
        const body = this.#late.pop();
        if (body !== undefined) this.#server.write(body, now);
        return;
      }
      case 'hide':
        return this.#hide();
      case 'reopen':
        return this.#reopen(now);
      case 'restart':
        this.place = places.intro;
        this.given.clear();
        this.queue = withChanges(this.queue, [{ place: this.place, restart: true }], now);
    }
  }

  /** Sends until the queue is empty. */
  drain(now: number): void {
    while (this.queue.writes.length > 0) this.#send('arrives', now);
  }

  #answer(question: number, now: number): void {
    const [step, widgetId] = questions[question] ?? questions[0];
    this.place = places[step];
    this.given.set(`${step}/${widgetId}`, now);
    this.queue = withChanges(this.queue, [answerOf(widgetId, now, this.place)], now);
  }

  #send(fate: 'arrives' | 'is lost' | 'arrives, its answer is lost', now: number): void {
    if (this.queue.hold === 'conflict') {
      this.conflicts += 1;
      this.queue = goOnHere(this.queue, this.place, versionId, contextAt(now));
    }
    if (waitTime(this.queue, Infinity) === null) return;
    const next = takeNext(this.queue);
    if (next === undefined) return;
    const answer = fate === 'is lost' ? undefined : this.#server.write(next.body, now);
    const seen = fate === 'arrives' && answer ? answer : { kind: 'failed' as const, retryAfter: 0 };
    this.queue = answered(next.queue, seen, { ...contextAt(now), random: 0 }).queue;
  }

  #hide(): void {
    const { queue, bodies } = takeAll(this.queue);
    this.queue = queue;
    this.#late.push(...bodies);
  }

  #reopen(now: number): void {
    const left = [JSON.parse(JSON.stringify(leftoverOf(this.queue))) as Leftover];
    const opened = newQueue(this.#server.record());
    const here = Object.values(places).find(
      ({ sectionIndex, stepIndex }) =>
        sectionIndex === opened.record.currentSectionIndex && stepIndex === opened.record.currentStepIndex,
    );
    this.queue = adopt(opened, left, { place: here ?? places.intro, versionId }, contextAt(now));
    const { stepId, currentSectionIndex, currentStepIndex } = projected(this.queue.record, this.queue.writes);
    this.place =
      Object.values(places).find((place) => place.stepId === stepId) ??
      Object.values(places).find(
        (place) => place.sectionIndex === currentSectionIndex && place.stepIndex === currentStepIndex,
      ) ??
      places.intro;
  }
}

const minute = 60_000;

describe('whatever requests get lost', () => {
  test('one browser: the server ends up with the last answers and step, and the learner never has to decide', () => {
    const anySkew = fc.constantFrom(-10 * minute, 0, 10 * minute);
    fc.assert(
      fc.property(fc.array(anyEventOrRestart, { maxLength: 40 }), anySkew, (events, skew) => {
        const server = new SessionRules();
        const browser = new Browser(server);
        let shown = browser.place;
        for (const [index, event] of events.entries()) {
          browser.meet(event, start + index * 1000 + (isServers(event) ? skew : 0));
          if (event.kind === 'reopen') expect(browser.place).toEqual(shown);
          shown = browser.place;
        }
        browser.drain(start + events.length * 1000 + skew);
        expect(server.answers()).toEqual(Object.fromEntries(browser.given));
        expect(server.state.stepId).toBe(browser.place.stepId);
        expect(browser.conflicts).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  test('two devices: only a later answer replaces an answer, and each question keeps one that was given', () => {
    const anyTurn = fc.tuple(fc.nat(1), anyEvent);
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 40 }), (turns) => {
        const server = new SessionRules();
        const browsers = [new Browser(server), new Browser(server)] as const;
        for (const [index, [who, event]] of turns.entries()) {
          browsers[who === 0 ? 0 : 1].meet(event, start + index * 1000);
        }
        for (const browser of browsers) browser.drain(start + turns.length * 1000);
        const given = browsers.map((browser) => Object.fromEntries(browser.given));
        const answers = server.answers();
        for (const question of new Set(given.flatMap((each) => Object.keys(each)))) {
          const candidates = given.flatMap((each) => each[question] ?? []);
          expect(candidates).toContain(answers[question]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** Cases where the server's clock decides rather than the browser's. */
function isServers({ kind }: Event): boolean {
  return kind === 'send' || kind === 'arrival';
}
