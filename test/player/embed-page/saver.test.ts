import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyOf, hasForeign, keptAtRestart, nextFacts, projected } from '../../../player/embed-page/facts.ts';
import type { Fact, FactContent, WriteBody } from '../../../player/embed-page/facts.ts';
import { factStore } from '../../../player/embed-page/fact-store.ts';
import { Saver } from '../../../player/embed-page/saver.ts';
import type { WriteResponse } from '../../../player/embed-page/session-client.ts';
import type { SessionRecord } from '../../../player/embed-page/session-record.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { factsOf } from '../../../shared/progress/facts.ts';
import { initialProgress, mergeFacts } from '../../../shared/progress/merge.ts';
import { itemsJson, variablesJson } from '../../../shared/progress/state.ts';
import type { ProgressState } from '../../../shared/progress/state.ts';
import { parseProgressWrite } from '../../../shared/progress/write.ts';
import { now as startOfTime, outline, versionId } from '../../progress/build-progress.ts';
import { memoryStorage } from '../../support/memory-storage.ts';

const intro = { sectionIndex: 0, stepIndex: 0, stepId: 'intro' };
const quiz = { sectionIndex: 0, stepIndex: 1, stepId: 'quiz' };

/** A server with one learner, whose clock the tests set. */
class Server {
  state: ProgressState = initialProgress(versionId, outline, startOfTime);
  now = startOfTime.getTime();

  take(body: WriteBody): WriteResponse {
    const write = parseProgressWrite(JSON.stringify(body));
    const now = new Date(this.now);
    const { writeId = '', attempt = this.state.attempt } = write;
    try {
      const facts = factsOf(write, outline, { now, writeId, attempt, userAttributes: null });
      this.state = mergeFacts(this.state, facts, outline, now);
    } catch (error) {
      if (error instanceof LecternError) return { kind: 'refused' };
      throw error;
    }
    return { kind: 'saved', record: this.record() };
  }

  record(): SessionRecord {
    const { attempt, status, score, maxScore, sectionIndex, stepIndex, completedAt, ...rest } = this.state;
    return {
      ...{ attempt, status, score, maxScore, versionId },
      ...{ currentSectionIndex: sectionIndex, currentStepIndex: stepIndex },
      attemptCompleted: rest.finished?.isCurrent ?? false,
      items: JSON.parse(itemsJson(rest.items)?.text ?? 'null') as SessionRecord['items'],
      variableState: JSON.parse(
        variablesJson(rest.variables)?.text ?? 'null',
      ) as SessionRecord['variableState'],
      progressData: JSON.parse(rest.progressData ?? 'null') as SessionRecord['progressData'],
      completedAt: completedAt?.toISOString() ?? null,
    };
  }
}

type Network = 'works' | 'loses requests' | 'loses responses' | 'is slow';

/** A browser of the learner, with its storage and its open tab. */
class Device {
  network: Network = 'works';
  readonly sent: WriteBody[] = [];
  readonly lost: number[] = [];
  /** How often a response showed a change of another device. */
  foreign = 0;
  readonly storage = memoryStorage();
  /** Slow requests. */
  held: (() => void)[] = [];
  readonly #server: Server;
  tab: Saver;

  constructor(server: Server) {
    this.#server = server;
    this.tab = this.open();
  }

  /** Opens a tab, which continues with what an earlier one has left. */
  open(): Saver {
    this.tab = new Saver({
      record: this.#server.record(),
      versionId,
      pinned: () => undefined,
      client: { now: () => this.#server.now, send: (body) => this.#send(body) },
      store: factStore(this.storage, 'learner'),
      isRecorded: true,
      onChange: () => undefined,
      onSaved: () => {
        if (hasForeign(this.tab.shown, this.tab.record)) this.foreign += 1;
      },
      onLost: () => this.lost.push(this.#server.now),
    });
    return this.tab;
  }

  async #send(body: WriteBody): Promise<WriteResponse> {
    this.sent.push(body);
    const { network } = this;
    if (network === 'loses requests') return { kind: 'failed', retryAfterMs: 0 };
    if (network === 'is slow') await new Promise<void>((resolve) => this.held.push(resolve));
    const response = this.#server.take(body);
    // The response takes time, too.
    if (network === 'is slow') this.#server.now += 1;
    return network === 'loses responses' ? { kind: 'failed', retryAfterMs: 0 } : response;
  }

  /** Lets slow requests arrive. */
  async release(): Promise<void> {
    for (const arrive of this.held.splice(0)) arrive();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Waits until everything is sent. */
  async settle(): Promise<void> {
    for (let tries = 0; this.tab.state.unsent > 0 && tries < 50; tries += 1) {
      this.tab.skipWait();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  answer(widgetId: string, answer: unknown): void {
    this.tab.change({
      position: quiz,
      answer: { stepId: 'quiz', widgetId, answer, score: null, maxScore: null },
    });
  }
}

const itemsOf = ({ items }: SessionRecord) => (items ?? []).map(({ widgetId, answer }) => [widgetId, answer]);

test('answers reach the server in one write, with the position and the ages', async () => {
  const server = new Server();
  const device = new Device(server);
  device.answer('quiz', ['b']);
  server.now += 3000;
  device.answer('slider', 1);
  await device.settle();
  expect(device.sent).toMatchObject([
    {
      ...{ versionId, attempt: 1, currentSectionIndex: 0, currentStepIndex: 1, ageMs: 0 },
      items: [
        { stepId: 'quiz', widgetId: 'quiz', answer: ['b'], ageMs: 3000 },
        { stepId: 'quiz', widgetId: 'slider', answer: 1, ageMs: 0 },
      ],
    },
  ]);
  expect(device.tab.state).toEqual({ hold: null, failures: 0, unsent: 0 });
  device.tab.change({ position: intro, progressData: { visited: ['intro'] } });
  device.tab.change({ position: intro, variable: { name: 'x', value: 1 } });
  await device.settle();
  device.tab.change({ position: intro, restart: true });
  await device.settle();
  expect(device.foreign).toBe(0);
  expect(device.storage.length).toBe(0);
  const other = new Device(server);
  other.answer('quiz', ['c']);
  await other.settle();
  device.answer('slider', 2);
  await device.settle();
  expect(device.foreign).toBe(1);
  expect(itemsOf(device.tab.record)).toContainEqual(['quiz', ['c']]);
});

test("another tab's unsent answer counts as a change that the page does not show yet", async () => {
  const device = new Device(new Server());
  const [first, second] = [device.tab, device.open()];
  const answer = { stepId: 'quiz', widgetId: 'quiz', answer: ['c'], score: null, maxScore: null };
  first.change({ position: quiz, answer });
  device.answer('slider', 1);
  await device.settle();
  expect(hasForeign(second.shown, second.record)).toBe(true);
  second.show();
  expect(hasForeign(second.shown, second.record)).toBe(false);
});

test('a write without a response is repeated under its id, and newer facts wait', async () => {
  const server = new Server();
  const device = new Device(server);
  device.network = 'loses responses';
  device.answer('quiz', ['b']);
  device.tab.skipWait();
  await new Promise((resolve) => setImmediate(resolve));
  server.now += 1;
  device.answer('quiz', ['c']);
  device.network = 'works';
  await device.settle();
  const ids = device.sent.map(({ writeId }) => writeId);
  expect(ids[1]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(2);
  expect(itemsOf(server.record())).toEqual([['quiz', ['c']]]);
});

test('what a closed tab could not send is sent at the next visit, drafts included', async () => {
  const server = new Server();
  const device = new Device(server);
  device.network = 'loses requests';
  device.answer('quiz', ['b']);
  device.tab.draft(quiz, { stepId: 'quiz', widgetId: 'slider', answer: 7, score: null, maxScore: null }, 0);
  device.tab.flush(quiz);
  await new Promise((resolve) => setImmediate(resolve));
  device.network = 'works';
  server.now += 86_400_000;
  device.open();
  expect(itemsOf(device.tab.record)).toEqual([
    ['quiz', ['b']],
    ['slider', 7],
  ]);
  await device.settle();
  expect(itemsOf(server.record())).toEqual(itemsOf(device.tab.record));
  expect(server.state.items[0]?.answeredAt).toEqual(startOfTime);
});

test('of a refused write, only the refused fact is dropped, and the learner sees one notice', async () => {
  const device = new Device(new Server());
  device.answer('quiz', ['a']);
  device.answer('gone', 1);
  device.answer('slider', 2);
  await device.settle();
  expect(itemsOf(device.tab.record)).toEqual([
    ['quiz', ['a']],
    ['slider', 2],
  ]);
  expect(device.lost).toHaveLength(1);
});

test('an attempt that was finished offline is sent before the one that was begun after it', async () => {
  const server = new Server();
  const device = new Device(server);
  device.network = 'loses requests';
  device.answer('quiz', ['a']);
  device.tab.change({ position: quiz, progressData: { visited: [] }, completed: true });
  server.now += 1000;
  device.tab.change({ position: intro, restart: true });
  device.answer('quiz', ['c']);
  device.network = 'works';
  await device.settle();
  expect(server.state).toMatchObject({ attempt: 2, finished: { score: 1, isCurrent: false }, score: 0 });
});

const step = fc.record({
  device: fc.nat(2),
  act: fc.constantFrom<'answer' | 'variable' | 'close' | 'send' | 'flush'>(
    'answer',
    'answer',
    'variable',
    'close',
    'send',
    'flush',
  ),
  widget: fc.constantFrom('quiz', 'slider'),
  // No right ones: those stay, and close the question in the page.
  answer: fc.constantFrom('b', 'c'),
  network: fc.constantFrom<Network>('works', 'loses requests', 'loses responses', 'is slow'),
  afterMs: fc.nat(5).map((seconds) => seconds * 1000 + 100),
});

test('whatever networks and tabs do, the newest answers and variables of all devices arrive, and all show them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const server = new Server();
      const devices = Array.from({ length: 3 }, () => new Device(server));
      const given = new Map<string, unknown>();
      for (const { device: index, act, widget, answer, network, afterMs } of steps) {
        const device = devices[index] ?? new Device(server);
        // Between devices, and after a page was closed, the time of a slow request counts from its arrival.
        const isClosing = act === 'close' || act === 'flush';
        for (const one of devices) if (one !== device || isClosing) await one.release();
        // Times of facts are wrong by the time that a request takes, and those of variables by up to two seconds.
        server.now += device.held.length > 0 ? 1 : act === 'variable' ? 2000 + afterMs : afterMs;
        device.network = network;
        if (act === 'close') device.open();
        else if (act === 'flush') device.tab.flush(quiz);
        else if (act === 'variable') {
          device.tab.change({ position: quiz, variable: { name: 'x', value: answer } });
          given.set('x', answer);
        } else if (act === 'answer') {
          device.answer(widget, [answer]);
          given.set(widget, [answer]);
        } else device.tab.skipWait();
        await new Promise((resolve) => setImmediate(resolve));
        if (afterMs > 2000) await device.release();
      }
      for (const device of devices) {
        device.network = 'works';
        await device.release();
        await device.settle();
        expect(device.tab.state.unsent).toBe(0);
      }
      const { items, variableState } = server.record();
      const stored = new Map((items ?? []).map(({ widgetId, answer }) => [widgetId, answer]));
      if (variableState !== null) stored.set('x', variableState.x);
      expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(given));
    }),
    { numRuns: 100 },
  );
});

const factOf = (id: string, at: number, content: FactContent, attempt = 1): Fact => ({
  ...{ id, at, attempt, versionId, position: quiz },
  ...content,
});

test('facts of another time, version or attempt wait for a request of their own; answers have their own times', () => {
  const answer = { stepId: 'quiz', widgetId: 'quiz', answer: 1, score: null, maxScore: null };
  const facts = [
    factOf('late', 9000, { progressData: {} }),
    factOf('first', 1000, { variable: { name: 'x', value: 1 } }),
    factOf('answer', 8000, { answer }),
    factOf('next', 2500, { variable: { name: 'y', value: 1 } }),
    factOf('second', 500, {}, 2),
    { ...factOf('older', 1500, {}), versionId: 'other' },
  ];
  const idsOf = (alone: string[] = []) => nextFacts(facts, new Set(alone)).map(({ id }) => id);
  expect(idsOf()).toEqual(['first', 'next', 'answer']);
  expect(idsOf(['first'])).toEqual(['first']);
  expect(idsOf(['next'])).toEqual(['first', 'answer']);
  expect(nextFacts(facts, new Set(), 10)).toHaveLength(1);
});

test('the page unites visited steps, and shows what is unsent over the record', () => {
  const record = { ...new Server().record(), progressData: { visited: ['a'], atEnd: true } };
  const fact = factOf('1', 0, { progressData: { visited: ['b'] } });
  const body = bodyOf({ writeId: 'w', facts: [fact], position: quiz, stepTimes: undefined }, record, 10);
  expect(body).toMatchObject({ ageMs: 10, progressData: { visited: ['a', 'b'] } });
  const shown = projected(record, [fact, factOf('2', 0, { completed: true })]);
  expect(shown).toMatchObject({
    status: 'completed',
    attemptCompleted: true,
    progressData: { visited: ['a', 'b'] },
  });
  expect(hasForeign(record, { ...record, progressData: null })).toBe(false);
  expect(hasForeign(record, { ...record, variableState: { x: 1 } })).toBe(true);
});

test('steps that were visited offline are reported again if a newer write of another device lacks them', async () => {
  const server = new Server();
  const [phone, laptop] = [new Device(server), new Device(server)];
  const visit = ({ tab }: Device, visited: string[]) =>
    tab.change({ position: quiz, progressData: { visited } });
  phone.network = 'loses requests';
  visit(phone, ['intro', 'quiz']);
  server.now += 60_000;
  visit(laptop, ['end']);
  await laptop.settle();
  phone.network = 'works';
  await phone.settle();
  expect(server.record()).toMatchObject({ progressData: { visited: ['end', 'intro', 'quiz'] } });
  // Visits that take several requests end at the last one.
  phone.network = 'loses requests';
  for (const [place, position] of [intro, quiz].entries()) {
    server.now += 60_000;
    phone.tab.change({ position, progressData: { visited: ['one', 'two'].slice(0, place + 1) } });
  }
  phone.network = 'works';
  await phone.settle();
  expect(server.record()).toMatchObject({ currentSectionIndex: 0, currentStepIndex: 1 });
  // The laptop has all of them, so it reports nothing again.
  const { length } = laptop.sent;
  laptop.answer('quiz', ['b']);
  await laptop.settle();
  expect(laptop.sent).toHaveLength(length + 1);
});

test('a restart drops unsent facts, but for those of the last finished attempt', () => {
  const facts = [factOf('1', 0, { completed: true }), factOf('2', 0, {}), factOf('3', 0, {}, 2)];
  expect(keptAtRestart(facts, 0).map(({ id }) => id)).toEqual(['1', '2']);
  expect(keptAtRestart(facts.slice(1), 0)).toEqual([]);
  // The server has the finish, and not the answers that were corrected after it.
  expect(keptAtRestart(facts.slice(1), 1).map(({ id }) => id)).toEqual(['2']);
});
