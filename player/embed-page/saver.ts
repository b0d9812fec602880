import { adopt, abandonedSavesOf, findOutdatedSave } from './abandoned-saves.ts';
import type { AbandonedSaves } from './abandoned-saves.ts';
import {
  addTime,
  catchUp,
  enqueue,
  continueHere,
  handOver,
  skipWait,
  renewed,
  takeAll,
  takeNext,
  waitMs,
} from './save-queue.ts';
import { afterResponse } from './save-response.ts';
import type { Change, Context, SaveQueue } from './save-queue.ts';
import { findOutdatedWrite } from './queued-write.ts';
import type { QueuedWrite } from './queued-write.ts';
import type { StepPosition, SessionRecord } from './session-record.ts';
import type { QueueStore } from './queue-store.ts';
import type { SessionClient } from './session-client.ts';

/** Saves a learner's progress: connects the queue with storage, network, clock and timers. */
export interface Saver {
  queue(this: void): SaveQueue;
  /** Whether the browser stores unsaved writes; otherwise they are lost with the page. */
  isStored(this: void): boolean;
  change(this: void, change: Change): void;
  /** Adds active time on a step, for the next write. */
  time(this: void, stepId: string, activeMs: number): void;
  /**
   * Stores a widget's unsubmitted answer, or removes it (undefined). It becomes an answer when the page is hidden, or
   * when the lesson opens again.
   */
  draft(this: void, widgetId: string, change: Change | undefined): void;
  /** Removes all drafts, when the learner leaves their step. */
  dropDrafts(this: void): void;
  /** Adopts other tabs' unsaved writes. */
  adopt(
    this: void,
    abandoned: readonly AbandonedSaves[],
    here: { position: StepPosition; versionId: string },
  ): void;
  /** Adopts the server's record as another tab knows it. */
  catchUp(this: void, record: SessionRecord): void;
  /** Stops saving, because another tab continues. */
  handOver(this: void): void;
  /** Resumes after a conflict. */
  continueHere(this: void, position: StepPosition): void;
  /** Resumes with a new token. */
  renewed(this: void): void;
  /** Retries at once, because the network may be back. */
  skipWait(this: void): void;
  /**
   * Sends everything at once, because the page may close.
   *
   * @param position the step that is shown, for a write that has only the time on steps
   */
  flush(this: void, position: StepPosition): void;
}

export interface SaverOptions {
  queue: SaveQueue;
  versionId: string;
  client: Pick<SessionClient, 'send' | 'now'>;
  store: QueueStore;
  /** Called after each change of the queue. */
  onChange(this: void): void;
  onSaved(this: void, record: SessionRecord, write: QueuedWrite): void;
  /** Called when another device wrote first. Call `merge` once widgets have reported their unsubmitted answers. */
  onConflict(this: void, merge: () => void): Promise<void>;
  /** Called for a dropped write: the server rejected it, or the learner has restarted elsewhere since. */
  onLost(this: void, write: QueuedWrite): void;
  /** Called with the unsaved writes, for the tab that continues. */
  onHandOver(this: void, saves: AbandonedSaves): void;
}

/** Browsers fire longer timers at once. */
const maxTimerMs = 3_600_000;

export function createSaver(options: SaverOptions): Saver {
  const { client, store, versionId } = options;
  let { queue } = options;
  let isStored = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const drafts = new Map<string, { change: Change; madeAt: number }>();

  const context = (): Context => ({ now: client.now(), newId });

  /** Stores the queue before anything else happens, because the page may close at any time. */
  function set(next: SaveQueue): void {
    const isSame = next.writes === queue.writes && next.record === queue.record;
    queue = next;
    if (!isSame) save();
    options.onChange();
    pump();
  }

  function save(): void {
    const saves = abandonedSavesOf(queue);
    // Also after a handover: the other tab may close before it adopts the writes, and removes them once it has.
    isStored = store.save(abandonedSavesOf(withDrafts()));
    if (queue.hold === 'elsewhere') options.onHandOver(saves);
  }

  /** Returns the queue with drafts as answers. */
  function withDrafts(): SaveQueue {
    const now = client.now();
    return [...drafts.values()].reduce(
      (next, { change, madeAt }) => enqueue(next, { ...change, ageMs: now - madeAt }, versionId, context()),
      queue,
    );
  }

  function pump(): void {
    clearTimeout(timer);
    const wait = waitMs(queue, client.now());
    if (wait === null) return;
    if (wait > 0) timer = setTimeout(pump, Math.min(wait, maxTimerMs));
    else void sendNext();
  }

  async function sendNext(): Promise<void> {
    const [write] = queue.writes;
    const next = takeNext(queue);
    if (write === undefined || next === undefined) return;
    set(next.queue);
    const response = await client.send(next.body);
    const outcome = () => afterResponse(queue, response, { ...context(), random: Math.random() });
    const settle = () => {
      const { queue: after, lost } = outcome();
      set(after);
      if (response.kind === 'saved') options.onSaved(response.record, write);
      if (lost !== undefined) options.onLost(lost);
    };
    const isConflict = queue.hold === null && outcome().queue.hold === 'conflict';
    if (isConflict) await options.onConflict(settle);
    else settle();
  }

  return {
    queue: () => queue,
    isStored: () => isStored,
    change: (change) => set(enqueue(queue, change, versionId, context())),
    time(stepId, activeMs) {
      queue = addTime(queue, stepId, activeMs);
    },
    adopt(abandoned, here) {
      const lost = findOutdatedSave(queue, abandoned);
      set(adopt(queue, abandoned, here, context()));
      if (lost !== undefined) options.onLost(lost);
    },
    catchUp(record) {
      const lost = findOutdatedWrite(queue.writes, record);
      set(catchUp(queue, record));
      if (lost !== undefined) options.onLost(lost);
    },
    handOver() {
      if (queue.hold === 'elsewhere') return;
      queue = handOver(queue);
      save();
      options.onChange();
      pump();
    },
    continueHere: (position) => set(continueHere(queue, position, versionId, context())),
    renewed: () => set(renewed(queue, client.now())),
    skipWait: () => set(skipWait(queue, client.now())),
    draft(widgetId, change) {
      if (change !== undefined) drafts.set(widgetId, { change, madeAt: client.now() - (change.ageMs ?? 0) });
      else if (!drafts.delete(widgetId)) return;
      save();
    },
    dropDrafts() {
      if (drafts.size === 0) return;
      drafts.clear();
      save();
    },
    flush(position) {
      if (queue.stepTimes && queue.hold === null) set(enqueue(queue, { position }, versionId, context()));
      if (drafts.size > 0) {
        const all = withDrafts();
        drafts.clear();
        set(all);
      }
      if (queue.writes.length === 0) return;
      set(skipWait(queue, client.now()));
      const { queue: all, bodies } = takeAll(queue);
      set(all);
      for (const body of bodies) void client.send(body);
    },
  };
}

/** Returns a random UUID. Pages without TLS have no `crypto.randomUUID`. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, index) => {
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
