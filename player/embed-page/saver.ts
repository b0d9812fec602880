import { adopt, leftoverOf, outdatedLeftover } from './abandoned-saves.ts';
import type { Leftover } from './abandoned-saves.ts';
import {
  answered,
  catchUp,
  enqueue,
  goOnHere,
  handOver,
  hurry,
  renewed,
  takeAll,
  takeNext,
  waitTime,
} from './save-queue.ts';
import type { Change, Context, SaveQueue } from './save-queue.ts';
import { outdatedWrite } from './queued-write.ts';
import type { QueuedWrite } from './queued-write.ts';
import type { Place, SessionRecord } from './session-record.ts';
import type { QueueStore } from './queue-store.ts';
import type { SessionClient } from './session-client.ts';

/** Saves what a learner does: the queue with its storage, network, clock and timers. */
export interface Saver {
  queue(this: void): SaveQueue;
  /** False while the browser keeps nothing: what is not saved is lost with the page. */
  isKept(this: void): boolean;
  change(this: void, change: Change): void;
  /**
   * Keeps an answer that is not submitted, by the id of its widget; undefined for none any more. It becomes an answer
   * when the page is hidden, or when it is opened again after a close.
   */
  draft(this: void, widgetId: string, change: Change | undefined): void;
  /** The drafts of a step end with it. */
  dropDrafts(this: void): void;
  /** Takes over what other tabs have not saved. */
  adopt(this: void, leftovers: readonly Leftover[], here: { place: Place; versionId: string }): void;
  /** Another tab knows what the server has. */
  catchUp(this: void, record: SessionRecord): void;
  /** Leaves saving to another tab. */
  handOver(this: void): void;
  goOnHere(this: void, place: Place): void;
  /** The token is new. */
  renewed(this: void): void;
  /** The network may be back. */
  hurry(this: void): void;
  /** The page may be gone at any moment. */
  flush(this: void): void;
}

export interface SaverOptions {
  queue: SaveQueue;
  versionId: string;
  client: Pick<SessionClient, 'send' | 'now'>;
  store: QueueStore;
  /** The queue has changed in any way. */
  onChange(this: void): void;
  onSaved(this: void, record: SessionRecord, write: QueuedWrite): void;
  /**
   * The server has what somebody else wrote. Call `merge` as soon as widgets have reported what they held back, so
   * that it is merged too.
   */
  onConflict(this: void, merge: () => void): Promise<void>;
  /** This write is given up: the server does not take it, or the learner has started again since. */
  onLost(this: void, write: QueuedWrite): void;
  /** This tab was told to leave saving to another one, and there is something left to hand over. */
  onHandOver(this: void, leftover: Leftover): void;
}

/** Longer timers overflow. */
const longestTimer = 3_600_000;

export function createSaver(options: SaverOptions): Saver {
  const { client, store, versionId } = options;
  let { queue } = options;
  let isKept = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const drafts = new Map<string, { change: Change; madeAt: number }>();

  const context = (): Context => ({ now: client.now(), newId });

  /** Kept before anything else happens: the page may be gone in the next moment. */
  function set(next: SaveQueue): void {
    const isSame = next.writes === queue.writes && next.record === queue.record;
    queue = next;
    if (!isSame) keep();
    options.onChange();
    pump();
  }

  function keep(): void {
    const leftover = leftoverOf(queue);
    // Also when it is handed over: the other tab may be closed before it hears of it, and forgets it otherwise.
    isKept = store.keep(leftoverOf(withDrafts()));
    if (queue.hold === 'elsewhere') options.onHandOver(leftover);
  }

  /** The queue as it is when drafts count as answers. */
  function withDrafts(): SaveQueue {
    const now = client.now();
    return [...drafts.values()].reduce(
      (next, { change, madeAt }) => enqueue(next, { ...change, age: now - madeAt }, versionId, context()),
      queue,
    );
  }

  function pump(): void {
    clearTimeout(timer);
    const wait = waitTime(queue, client.now());
    if (wait === null) return;
    if (wait > 0) timer = setTimeout(pump, Math.min(wait, longestTimer));
    else void sendNext();
  }

  async function sendNext(): Promise<void> {
    const [write] = queue.writes;
    const next = takeNext(queue);
    if (write === undefined || next === undefined) return;
    set(next.queue);
    const answer = await client.send(next.body);
    const outcome = () => answered(queue, answer, { ...context(), random: Math.random() });
    const settle = () => {
      const { queue: after, lost } = outcome();
      set(after);
      if (answer.kind === 'saved') options.onSaved(answer.record, write);
      if (lost !== undefined) options.onLost(lost);
    };
    const isConflict = queue.hold === null && outcome().queue.hold === 'conflict';
    if (isConflict) await options.onConflict(settle);
    else settle();
  }

  return {
    queue: () => queue,
    isKept: () => isKept,
    change: (change) => set(enqueue(queue, change, versionId, context())),
    adopt(leftovers, here) {
      const lost = outdatedLeftover(queue, leftovers);
      set(adopt(queue, leftovers, here, context()));
      if (lost !== undefined) options.onLost(lost);
    },
    catchUp(record) {
      const lost = outdatedWrite(queue.writes, record);
      set(catchUp(queue, record));
      if (lost !== undefined) options.onLost(lost);
    },
    handOver() {
      if (queue.hold === 'elsewhere') return;
      queue = handOver(queue);
      keep();
      options.onChange();
      pump();
    },
    goOnHere: (place) => set(goOnHere(queue, place, versionId, context())),
    renewed: () => set(renewed(queue, client.now())),
    hurry: () => set(hurry(queue, client.now())),
    draft(widgetId, change) {
      if (change !== undefined) drafts.set(widgetId, { change, madeAt: client.now() - (change.age ?? 0) });
      else if (!drafts.delete(widgetId)) return;
      keep();
    },
    dropDrafts() {
      if (drafts.size === 0) return;
      drafts.clear();
      keep();
    },
    flush() {
      if (drafts.size > 0) {
        const all = withDrafts();
        drafts.clear();
        set(all);
      }
      if (queue.writes.length === 0) return;
      set(hurry(queue, client.now()));
      const { queue: all, bodies } = takeAll(queue);
      set(all);
      for (const body of bodies) void client.send(body);
    },
  };
}

/** A UUID. Pages that are served without encryption have no `crypto.randomUUID`. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, index) => {
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
