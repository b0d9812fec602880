import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { abandonedSavesOf, adopt } from '../../../player/embed-page/abandoned-saves.ts';
import type { AbandonedSaves } from '../../../player/embed-page/abandoned-saves.ts';
import {
  catchUp,
  continueHere,
  handOver,
  takeAll,
  takeNext,
  waitMs,
} from '../../../player/embed-page/save-queue.ts';
import type { SaveQueue } from '../../../player/embed-page/save-queue.ts';
import type { WriteResponse } from '../../../player/embed-page/save-response.ts';
import { projected } from '../../../player/embed-page/queued-write.ts';
import type { WriteBody } from '../../../player/embed-page/queued-write.ts';
import type { SessionRecord, StepPosition } from '../../../player/embed-page/session-record.ts';
import { versionId } from '../../progress/build-progress.ts';
import {
  answerOf,
  contextAt,
  newQueue,
  positions,
  SessionRules,
  settle,
  start,
  withChanges,
} from './learner-queue.ts';

const steps = ['intro', 'quiz', 'end'] as const;
const questions = [
  ['quiz', 'q1'],
  ['quiz', 'q2'],
  ['quiz', 'dial'],
  ['end', 'q1'],
] as const;

type Message =
  | { type: 'take'; id: number }
  | { type: 'give'; id: number; saves: AbandonedSaves; record: SessionRecord };

/** A browser whose tabs share a storage and a channel, as saver.ts and tabs.ts use them. */
class Device {
  now = start;
  /** Each tab's stored saves by its id. */
  readonly storage = new Map<number, string>();
  readonly tabs: Tab[] = [];
  /** Writes of closed pages that have not arrived: still in transit, or lost. */
  readonly late: WriteBody[] = [];
  /** The times of each question's answers, in order. Each answer is its time. */
  readonly given = new Map<string, number[]>();
  /** How often the learner had to decide where to continue. */
  conflicts = 0;
  readonly server: SessionRules;
  readonly #skewMs: number;

  /** @param skewMs by how much the server's clock is ahead */
  constructor(server = new SessionRules(), skewMs = 0) {
    this.server = server;
    this.#skewMs = skewMs;
  }

  live(): Tab[] {
    return this.tabs.filter(({ isOpen }) => isOpen);
  }

  open(): Tab {
    const tab = new Tab(this, this.tabs.length);
    this.tabs.push(tab);
    tab.adopt(new Map(Array.from(this.storage, ([id, text]) => [id, JSON.parse(text) as AbandonedSaves])));
    tab.position = positionIn(projected(tab.queue.record, tab.queue.writes));
    this.post({ type: 'take', id: tab.id });
    return tab;
  }

  post(message: Message): void {
    for (const tab of this.live()) if (tab.id !== message.id) tab.inbox.push(message);
  }

  write(body: WriteBody): WriteResponse {
    return this.server.write(body, this.now + this.#skewMs);
  }

  hearAll(): void {
    for (;;) {
      const tab = this.live().find(({ inbox }) => inbox.length > 0);
      if (tab === undefined) return;
      tab.hear();
    }
  }

  /** Closes all tabs; one more then saves the rest. Returns it. */
  finish(): Tab {
    this.now += 1000;
    this.hearAll();
    for (const tab of this.live()) tab.close();
    const last = this.open();
    while (last.queue.writes.length > 0) {
      if (last.queue.hold !== null) last.continueHere();
      last.send();
      last.arrive();
      last.settle(false);
    }
    return last;
  }

  /** Returns the last answer to each question. */
  lastGiven(): Record<string, number> {
    return Object.fromEntries(Array.from(this.given, ([name, times]) => [name, times.at(-1) ?? NaN]));
  }
}

class Tab {
  queue: SaveQueue;
  position: StepPosition = positions.intro;
  isOpen = true;
  readonly inbox: Message[] = [];
  /** The tab that opened last has the largest one. */
  readonly id: number;
  readonly #device: Device;
  #sent: { body: WriteBody; response?: WriteResponse } | undefined;

  constructor(device: Device, id: number) {
    this.#device = device;
    this.id = id;
    this.queue = newQueue(device.server.record());
  }

  go(step: number): void {
    this.position = positions[steps[step] ?? 'intro'];
    this.#set(withChanges(this.queue, [{ position: this.position }], this.#device.now));
  }

  answer(question: number): void {
    // The lesson is blocked while the learner has to decide where to continue.
    if (this.queue.hold !== null) return;
    const { now, given } = this.#device;
    const [step, widgetId] = questions[question] ?? questions[0];
    this.position = positions[step];
    given.set(`${step}/${widgetId}`, [...(given.get(`${step}/${widgetId}`) ?? []), now]);
    this.#set(withChanges(this.queue, [answerOf(widgetId, now, this.position)], now));
  }

  restart(): void {
    this.position = positions.intro;
    this.#device.given.clear();
    this.#set(withChanges(this.queue, [{ position: this.position, restart: true }], this.#device.now));
  }

  send(): void {
    const next = waitMs(this.queue, Infinity) === null ? undefined : takeNext(this.queue);
    if (next === undefined) return;
    this.#set(next.queue);
    this.#sent = { body: next.body };
  }

  arrive(): void {
    if (this.#sent) this.#sent.response ??= this.#device.write(this.#sent.body);
  }

  /** The response arrives, or the request fails, whether or not it reached the server. */
  settle(fails: boolean): void {
    if (this.#sent === undefined || !(fails || this.#sent.response)) return;
    const { body, response } = this.#sent;
    this.#sent = undefined;
    if (response === undefined) this.#device.late.push(body);
    const seen = fails || !response ? { kind: 'failed' as const, retryAfterMs: 0 } : response;
    this.#set(settle(this.queue, seen, this.#device.now, 0).queue);
  }

  /** Delivers the oldest message. */
  hear(): void {
    const message = this.inbox.shift();
    if (message?.type === 'take' && message.id > this.id && this.queue.hold !== 'elsewhere') {
      this.queue = handOver(this.queue);
      this.#store();
    } else if (message?.type === 'give' && this.queue.hold !== 'elsewhere') {
      this.#set(catchUp(this.queue, message.record));
      this.adopt(new Map([[message.id, message.saves]]));
    }
  }

  adopt(found: ReadonlyMap<number, AbandonedSaves>): void {
    const here = { position: positionIn(this.queue.record), versionId };
    this.#set(adopt(this.queue, [...found.values()], here, contextAt(this.#device.now)));
    for (const id of found.keys()) this.#device.storage.delete(id);
  }

  continueHere(): void {
    if (this.queue.hold === 'elsewhere') {
      this.close();
      this.#device.open();
    } else if (this.queue.hold === 'conflict') {
      this.#device.conflicts += 1;
      this.#set(continueHere(this.queue, this.position, versionId, contextAt(this.#device.now)));
    }
  }

  hide(): void {
    const { queue, bodies } = takeAll(this.queue);
    this.#set(queue);
    this.#device.late.push(...bodies);
  }

  close(): void {
    this.hide();
    this.crash();
  }

  /** Ends without a last request. */
  crash(): void {
    this.settle(true);
    this.isOpen = false;
  }

  #set(next: SaveQueue): void {
    const isSame = next.writes === this.queue.writes && next.record === this.queue.record;
    this.queue = next;
    if (!isSame) this.#store();
  }

  #store(): void {
    const text = JSON.stringify(abandonedSavesOf(this.queue));
    const { record, hold, writes } = this.queue;
    if (writes.length === 0) this.#device.storage.delete(this.id);
    else this.#device.storage.set(this.id, text);
    if (hold !== 'elsewhere') return;
    this.#device.post({ type: 'give', id: this.id, saves: JSON.parse(text) as AbandonedSaves, record });
  }
}

function positionIn({ stepId, currentSectionIndex, currentStepIndex }: SessionRecord): StepPosition {
  const all = Object.values(positions);
  const atIndexes = all.find(
    ({ sectionIndex, stepIndex }) => sectionIndex === currentSectionIndex && stepIndex === currentStepIndex,
  );
  return all.find((position) => position.stepId === stepId) ?? atIndexes ?? positions.intro;
}

interface Event {
  what: keyof typeof actions;
  /** Chooses the tab, and the device where there are two. */
  who: number;
  /** Chooses the question or the step. */
  which: number;
}

const actions = {
  answer: (_: Device, tab: Tab, { which }: Event) => tab.answer(which),
  go: (_: Device, tab: Tab, { which }: Event) => tab.go(which),
  restart: (_: Device, tab: Tab) => tab.restart(),
  send: (_: Device, tab: Tab) => tab.send(),
  arrive: (_: Device, tab: Tab) => tab.arrive(),
  settle: (_: Device, tab: Tab) => tab.settle(false),
  fail: (_: Device, tab: Tab) => tab.settle(true),
  late: (device: Device) => void device.late.splice(0, 1).map((body) => device.write(body)),
  latest: (device: Device) => void device.late.splice(-1).map((body) => device.write(body)),
  hide: (_: Device, tab: Tab) => tab.hide(),
  close: (_: Device, tab: Tab) => tab.close(),
  reopen(device: Device, tab: Tab) {
    tab.crash();
    expect(device.open().position).toEqual(tab.position);
  },
  open: (device: Device) => void (device.live().length < 3 && device.open()),
  hear: (_: Device, tab: Tab) => tab.hear(),
  continue: (_: Device, tab: Tab) => tab.continueHere(),
};

/** Makes sequences of events. @param names several times for frequent ones */
const sequencesOf = (...names: Event['what'][]) =>
  fc.array(fc.record({ what: fc.constantFrom(...names), who: fc.nat(5), which: fc.nat(3) }), {
    ...{ maxLength: 60, size: 'max' as const },
  });
const requests = ['send', 'send', 'arrive', 'settle', 'settle', 'fail', 'late', 'latest', 'hide'] as const;
const ofOneTab = ['answer', 'answer', 'answer', 'go', 'go', 'reopen', ...requests] as const;
const ofDevices = ofOneTab.filter((what) => what !== 'reopen');
const ofTabs = ['answer', 'answer', 'answer', 'open', 'close', 'hear', 'continue', ...requests] as const;

/** Applies an event to a device, a second after the event before. */
function happen(device: Device, event: Event, index: number): void {
  Object.assign(device, { now: start + (index + 1) * 1000 });
  const live = device.live();
  actions[event.what](device, live[event.who % live.length] ?? device.open(), event);
}

describe('whatever requests get lost', () => {
  test('one tab: the server ends up with the last answers and step, and the learner never has to decide', () => {
    const anySkew = fc.constantFrom(-600_000, 0, 600_000);
    fc.assert(
      fc.property(sequencesOf(...ofOneTab, 'restart'), anySkew, (events, skewMs) => {
        const device = new Device(new SessionRules(), skewMs);
        for (const [index, event] of events.entries()) happen(device, event, index);
        const { position } = device.finish();
        expect(device.server.answers()).toEqual(device.lastGiven());
        expect(device.server.state.stepId ?? 'intro').toBe(position.stepId);
        expect(device.conflicts).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  test('two devices: only a later answer replaces an answer, and each question keeps one that was given', () => {
    fc.assert(
      fc.property(sequencesOf(...ofDevices, 'continue'), (events) => {
        const server = new SessionRules();
        const devices = [new Device(server), new Device(server)] as const;
        for (const [index, event] of events.entries()) {
          happen(devices[event.who < 3 ? 0 : 1], event, index);
        }
        for (const device of devices) device.finish();
        const given = devices.map((device) => device.lastGiven());
        for (const question of new Set(given.flatMap((each) => Object.keys(each)))) {
          const candidates = given.flatMap((each) => each[question] ?? []);
          expect(candidates).toContain(server.answers()[question]);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("tabs that communicate: each question's last answer counts, and no saves are left over", () => {
    fc.assert(
      fc.property(sequencesOf(...ofTabs), (events) => {
        const device = new Device();
        for (const [index, event] of events.entries()) {
          happen(device, event, index);
          device.hearAll();
        }
        device.finish();
        expect(device.server.answers()).toEqual(device.lastGiven());
        expect([...device.storage]).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test('tabs that have not communicated yet: each question has an answer that was given', () => {
    fc.assert(
      fc.property(sequencesOf(...ofTabs), (events) => {
        const device = new Device();
        for (const [index, event] of events.entries()) happen(device, event, index);
        device.finish();
        const answers = device.server.answers();
        for (const [name, times] of device.given) expect(times).toContain(answers[name]);
      }),
      { numRuns: 150 },
    );
  });
});
