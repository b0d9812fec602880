import fc from 'fast-check';
import { expect, test } from 'vitest';
import { adopt, leftoverOf } from '../../../player/embed-page/abandoned-saves.ts';
import type { Leftover } from '../../../player/embed-page/abandoned-saves.ts';
import {
  answered,
  catchUp,
  goOnHere,
  handOver,
  takeAll,
  takeNext,
  waitTime,
} from '../../../player/embed-page/save-queue.ts';
import type { Answer, SaveQueue } from '../../../player/embed-page/save-queue.ts';
import type { WriteBody } from '../../../player/embed-page/queued-write.ts';
import type { SessionRecord } from '../../../player/embed-page/session-record.ts';
import { versionId } from '../../progress/build-progress.ts';
import { answerOf, contextAt, newQueue, places, SessionRules, start, withChanges } from './learner-queue.ts';

const questions = [
  ['quiz', 'q1'],
  ['quiz', 'q2'],
  ['end', 'q1'],
] as const;

type Message =
  { type: 'take'; id: number } | { type: 'give'; id: number; leftover: Leftover; record: SessionRecord };

/**
 * A browser whose tabs share a storage and a channel, as saver.ts and tabs.ts use them, and a
 * server.
 */
class Browser {
  readonly server = new SessionRules();
  /** Each tab's stored state by its id. */
  readonly storage = new Map<number, string>();
  readonly tabs: Tab[] = [];
  /** Writes of closed pages: still in transit, lost, or arrived. */
  readonly late: WriteBody[] = [];
  now = start;

  live(): Tab[] {
    return this.tabs.filter(({ isOpen }) => isOpen);
  }

  open(): Tab {
    const tab = new Tab(this, this.tabs.length);
    const left = Array.from(this.storage, ([id, text]) => [id, JSON.parse(text) as Leftover] as const);
    tab.takeOver(new Map(left));
    this.post({ type: 'take', id: tab.id });
    this.tabs.push(tab);
    return tab;
  }

  post(message: Message): void {
    for (const tab of this.live()) if (tab.id !== message.id) tab.inbox.push(message);
  }
}

class Tab {
  queue: SaveQueue;
  isOpen = true;
  readonly inbox: Message[] = [];
  /** Counts up, so the tab opened last has the largest number. */
  readonly id: number;
  readonly #browser: Browser;
  #sent: { body: WriteBody; answer?: Answer } | undefined;

  constructor(browser: Browser, id: number) {
    this.#browser = browser;
    this.id = id;
    this.queue = newQueue(browser.server.record());
  }

  answer(question: number): boolean {
    // The lesson is blocked while the learner has to decide where to continue.
    if (this.queue.hold !== null) return false;
    const { now } = this.#browser;
    const [step, widgetId] = questions[question] ?? questions[0];
    this.#set(withChanges(this.queue, [answerOf(widgetId, now, places[step])], now));
    return true;
  }

  send(): void {
    const next = waitTime(this.queue, Infinity) === null ? undefined : takeNext(this.queue);
    if (next === undefined) return;
    this.#set(next.queue);
    this.#sent = { body: next.body };
  }

  arrive(): void {
    if (this.#sent) this.#sent.answer ??= this.#browser.server.write(this.#sent.body, this.#browser.now);
  }

  /** The response arrives, or the request fails, whether or not it reached the server. */
  settle(fails: boolean): void {
    if (this.#sent === undefined || !(fails || this.#sent.answer)) return;
    const { body, answer } = this.#sent;
    this.#sent = undefined;
    if (answer === undefined) this.#browser.late.push(body);
    const seen = fails || !answer ? { kind: 'failed' as const, retryAfter: 0 } : answer;
    this.#set(answered(this.queue, seen, { ...contextAt(this.#browser.now), random: 0 }).queue);
  }

  /** Delivers the oldest message. */
  hear(): void {
    const message = this.inbox.shift();
    if (message?.type === 'take' && message.id > this.id && this.queue.hold !== 'elsewhere') {
      this.queue = handOver(this.queue);
      this.#keep();
    } else if (message?.type === 'give' && this.queue.hold !== 'elsewhere') {
      this.#set(catchUp(this.queue, message.record));
      this.takeOver(new Map([[message.id, message.leftover]]));
    }
  }

  takeOver(left: ReadonlyMap<number, Leftover>): void {
    const here = { place: places.intro, versionId };
    this.#set(adopt(this.queue, [...left.values()], here, contextAt(this.#browser.now)));
    for (const id of left.keys()) this.#browser.storage.delete(id);
  }

  goOnHere(): void {
    if (this.queue.hold === 'elsewhere') {
      this.close();
      this.#browser.open();
    } else this.#set(goOnHere(this.queue, places.intro, versionId, contextAt(this.#browser.now)));
  }

  hide(): void {
    const { queue, bodies } = takeAll(this.queue);
    this.#set(queue);
    this.#browser.late.push(...bodies);
  }

  close(): void {
    this.hide();
    this.settle(true);
    this.isOpen = false;
  }

  #set(next: SaveQueue): void {
    const isSame = next.writes === this.queue.writes && next.record === this.queue.record;
    this.queue = next;
    if (!isSame) this.#keep();
  }

  #keep(): void {
    const text = JSON.stringify(leftoverOf(this.queue));
    const { record, hold, writes } = this.queue;
    if (writes.length === 0) this.#browser.storage.delete(this.id);
    else this.#browser.storage.set(this.id, text);
    if (hold === 'elsewhere') {
      this.#browser.post({ type: 'give', id: this.id, leftover: JSON.parse(text) as Leftover, record });
    }
  }
}

/** Weighted towards answers, the most frequent action. */
const happenings = [
  ...(['answer', 'answer', 'answer', 'open', 'close', 'hide', 'go on'] as const),
  ...(['send', 'send', 'arrive', 'settle', 'settle', 'fail', 'hear', 'late'] as const),
];
interface Event {
  what: (typeof happenings)[number];
  who: number;
  question: number;
}

const anyEvent: fc.Arbitrary<Event> = fc.record({
  what: fc.constantFrom(...happenings),
  who: fc.nat(2),
  question: fc.nat(questions.length - 1),
});

/** @returns the time of each question's answer, in order */
function play(browser: Browser, turns: readonly Event[], hearAtOnce: boolean): Map<string, number[]> {
  const given = new Map<string, number[]>();
  for (const { what, who, question } of turns) {
    browser.now += 1000;
    const live = browser.live();
    const tab = live[who % live.length] ?? browser.open();
    if (what === 'answer' && tab.answer(question)) {
      const name = (questions[question] ?? questions[0]).join('/');
      given.set(name, [...(given.get(name) ?? []), browser.now]);
    } else if (what === 'open' && live.length < 3) browser.open();
    else act(browser, tab, what);
    if (hearAtOnce) hearAll(browser);
  }
  return given;
}

function act(browser: Browser, tab: Tab, what: Event['what']): void {
  const actions: Partial<Record<Event['what'], () => unknown>> = {
    close: () => tab.close(),
    hide: () => tab.hide(),
    send: () => tab.send(),
    arrive: () => tab.arrive(),
    settle: () => tab.settle(false),
    fail: () => tab.settle(true),
    hear: () => tab.hear(),
    late: () => browser.late.splice(0, 1).map((body) => browser.server.write(body, browser.now)),
    'go on': () => tab.goOnHere(),
  };
  actions[what]?.();
}

function hearAll(browser: Browser): void {
  for (;;) {
    const tab = browser.live().find(({ inbox }) => inbox.length > 0);
    if (tab === undefined) return;
    tab.hear();
  }
}

/** Closes everything; one more tab then saves the rest. */
function finish(browser: Browser): void {
  browser.now += 1000;
  hearAll(browser);
  for (const tab of browser.live()) tab.close();
  const last = browser.open();
  while (last.queue.writes.length > 0) {
    if (last.queue.hold !== null) last.goOnHere();
    last.send();
    last.arrive();
    last.settle(false);
  }
}

test("tabs that communicate: each question's last answer counts, and no queue is left over", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60, size: 'max' }), (turns) => {
      const browser = new Browser();
      const given = play(browser, turns, true);
      finish(browser);
      const last = Array.from(given, ([name, times]) => [name, times.at(-1)] as const);
      expect(browser.server.answers()).toEqual(Object.fromEntries(last));
      expect([...browser.storage]).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('tabs that have not communicated yet: each question has an answer that was given', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60, size: 'max' }), (turns) => {
      const browser = new Browser();
      const given = play(browser, turns, false);
      finish(browser);
      const answers = browser.server.answers();
      for (const [name, times] of given) expect(times).toContain(answers[name]);
    }),
    { numRuns: 300 },
  );
});
