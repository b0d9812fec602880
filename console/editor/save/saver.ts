import { effect, signal } from '@preact/signals';
import { messageOf } from '../../kit/toast.tsx';
import { ApiError, request } from '../../shell/api.ts';
import type { StepContent } from '../model/blocks.ts';
import type { EditorStore } from '../model/editor-store.ts';
import type { PartKey, Skeleton } from '../model/lesson-document.ts';
import { removeCopy, writeCopy } from './local-copies.ts';

/** Two states of a part that exclude each other: the author's, which the document has, and the server's. */
export interface Conflict {
  readonly key: PartKey;
  readonly theirs: Skeleton | StepContent;
  readonly revision: number;
  /** When the other author saved, in ISO 8601. */
  readonly savedAt: string;
}

/** What an author is told about saving. */
export type SaveState =
  | { readonly kind: 'saved' | 'saving' | 'offline' | 'loggedOut' | 'ended' | 'conflict' }
  /** The server has answered with an error. `isFinal`: the same content would fail again. */
  | { readonly kind: 'failed'; readonly message: string; readonly isFinal: boolean };

/** A pause of the author after which changes are sent. */
const pauseMs = 1_200;
/** Changes are sent after this time at the latest. */
const longestPauseMs = 6_000;
/** A change is in the browser's storage after this time at the latest. */
const copyMs = 250;
const firstRetryMs = 2_000;
const longestRetryMs = 30_000;

/**
 * Saves a lesson while it is edited. Every change is first kept in the browser; then the parts that differ from the
 * server's are sent, one request at a time, until none is left. What fails is sent again.
 */
export class Saver {
  readonly state = signal<SaveState>({ kind: 'saved' });
  readonly conflicts = signal<readonly Conflict[]>([]);
  readonly #store: EditorStore;
  /** Parts that the server rejects, as long as they stay as they are. */
  readonly #rejected = new Map<PartKey, unknown>();
  /** What was sent last, whose response may have been lost. */
  readonly #sent = new Map<PartKey, Skeleton | StepContent>();
  /** What the browser keeps. */
  readonly #copied = new Map<PartKey, unknown>();
  #running: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #copyTimer: ReturnType<typeof setTimeout> | undefined;
  #waitingSince: number | undefined;
  #retryMs = firstRetryMs;
  #ends: (() => void)[] = [];

  constructor(store: EditorStore) {
    this.#store = store;
  }

  /** Begins to follow the document. @returns a function that ends it */
  start(): () => void {
    const onReturn = () => void this.flush();
    const onHide = () => {
      if (document.visibilityState !== 'hidden') return;
      void this.#writeCopies();
      void this.flush();
    };
    addEventListener('online', onReturn);
    document.addEventListener('visibilitychange', onHide);
    this.#ends = [
      effect(() => {
        // Any change of the parts.
        void this.#store.document.value.parts;
        this.#onChange();
      }),
      () => removeEventListener('online', onReturn),
      () => document.removeEventListener('visibilitychange', onHide),
    ];
    return () => {
      for (const end of this.#ends) end();
      clearTimeout(this.#copyTimer);
      void this.#writeCopies();
      void this.flush().finally(() => clearTimeout(this.#timer));
    };
  }

  /** The parts that the server does not have, in the order in which they are sent: the skeleton names new steps. */
  get unsaved(): PartKey[] {
    const { parts } = this.#store.document.peek();
    return [...parts]
      .filter(([key, value]) => value !== undefined && value !== this.#store.saved.get(key)?.value)
      .map(([key]) => key)
      .sort((one, other) => Number(one === 'skeleton') - Number(other === 'skeleton'));
  }

  /** Sends what is not saved, now. @returns whether the server then has everything */
  async flush(): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#waitingSince = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
    return this.unsaved.length === 0;
  }

  /** Ends a conflict. The document's part is what the author wants to have. */
  settle({ key, theirs, revision }: Conflict): void {
    this.conflicts.value = this.conflicts.peek().filter((other) => other.key !== key);
    this.#store.saved.set(key, { revision, value: theirs });
    this.#show();
    this.#onChange();
  }

  /** Records a conflict that was found when the lesson was opened. */
  addConflict(conflict: Conflict): void {
    this.conflicts.value = [...this.conflicts.peek().filter(({ key }) => key !== conflict.key), conflict];
    this.#show();
  }

  #onChange(): void {
    if (this.unsaved.length === 0) {
      void this.#writeCopies();
      this.#show();
      return;
    }
    this.#copyTimer ??= setTimeout(() => void this.#writeCopies(), copyMs);
    const now = Date.now();
    this.#waitingSince ??= now;
    const wait = Math.min(pauseMs, this.#waitingSince + longestPauseMs - now);
    const state = this.state.peek();
    // An attempt that failed is repeated after a pause of its own.
    if (state.kind === 'offline' || (state.kind === 'failed' && !state.isFinal)) return;
    this.#schedule(Math.max(0, wait));
    if (state.kind === 'saved') this.state.value = { kind: 'saving' };
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), ms);
  }

  async #writeCopies(): Promise<void> {
    clearTimeout(this.#copyTimer);
    this.#copyTimer = undefined;
    const { lessonId, draft, saved, document: current } = this.#store;
    const unsaved = new Set<PartKey>(this.unsaved);
    const writes = [...unsaved].map(async (key) => {
      const value = current.peek().parts.get(key);
      if (value === undefined || this.#copied.get(key) === value) return;
      this.#copied.set(key, value);
      const revision = saved.get(key)?.revision ?? 0;
      await writeCopy(lessonId, { draftId: draft.id, key, revision, value, at: Date.now() });
    });
    const removals = [...this.#copied.keys()].map(async (key) => {
      if (unsaved.has(key)) return;
      this.#copied.delete(key);
      await removeCopy(lessonId, key);
    });
    await Promise.all([...writes, ...removals]);
  }

  async #run(): Promise<void> {
    await this.#writeCopies();
    try {
      for (let key = this.#next(); key !== undefined; key = this.#next()) await this.#save(key);
      this.#retryMs = firstRetryMs;
      this.#show();
    } catch (error) {
      this.#fail(error);
    }
    await this.#writeCopies();
  }

  /** The next part to send. A skeleton that names a step waits for it. */
  #next(): PartKey | undefined {
    const { parts } = this.#store.document.peek();
    const isBlocked = (key: PartKey) =>
      this.conflicts.peek().some((conflict) => conflict.key === key) ||
      (this.#rejected.has(key) && this.#rejected.get(key) === parts.get(key));
    const next = this.unsaved.find((key) => !isBlocked(key));
    const hasNewStep = this.unsaved.some((key) => key !== 'skeleton' && !this.#store.saved.has(key));
    return next === 'skeleton' && hasNewStep ? undefined : next;
  }

  async #save(key: PartKey): Promise<void> {
    const value = this.#store.document.peek().parts.get(key);
    if (value === undefined) return;
    const revision = this.#store.saved.get(key)?.revision ?? 0;
    this.state.value = { kind: 'saving' };
    const sentBefore = this.#sent.get(key);
    this.#sent.set(key, value);
    try {
      const saved = await this.#put(key, revision, value);
      this.#store.saved.set(key, { revision: saved.revision, value });
      this.#sent.delete(key);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) this.#onConflict(key, error, sentBefore);
      else if ([400, 403, 413, 422].includes(error.status)) {
        this.#rejected.set(key, value);
        this.state.value = { kind: 'failed', message: messageOf(error), isFinal: true };
      } else throw error;
    }
  }

  #put(key: PartKey, revision: number, value: Skeleton | StepContent): Promise<{ revision: number }> {
    const { lessonId } = this.#store;
    if (key === 'skeleton')
      return request('PUT /api/lessons/{lessonId}/draft', {
        params: { lessonId },
        body: { revision, skeleton: value as never },
      });
    return request('PUT /api/lessons/{lessonId}/draft/steps/{stepId}', {
      params: { lessonId, stepId: key.slice('step:'.length) },
      body: { revision, content: value as never },
    });
  }

  #onConflict(key: PartKey, { body }: ApiError, sentBefore: Skeleton | StepContent | undefined): void {
    const present = body as { revision: number; savedAt: string; content?: StepContent; skeleton?: Skeleton };
    const theirs = present.content ?? present.skeleton;
    if (theirs === undefined) throw new Error('a conflict has the present state');
    const { revision, savedAt } = present;
    if (sentBefore !== undefined && JSON.stringify(sentBefore) === JSON.stringify(theirs)) {
      // Its response was lost: the present state is the author's own.
      this.#store.saved.set(key, { revision, value: sentBefore });
      return;
    }
    this.addConflict({ key, theirs, revision, savedAt });
  }

  #fail(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    const { status, retryAfterSeconds } = error;
    if (status === 401) this.state.value = { kind: 'loggedOut' };
    else if (status === 404) this.state.value = { kind: 'ended' };
    else {
      this.state.value =
        status === 0 ? { kind: 'offline' } : { kind: 'failed', message: messageOf(error), isFinal: false };
      this.#schedule(retryAfterSeconds === null ? this.#retryMs : retryAfterSeconds * 1_000);
      this.#retryMs = Math.min(longestRetryMs, this.#retryMs * 2);
    }
  }

  #show(): void {
    const { parts } = this.#store.document.peek();
    if (this.conflicts.peek().length > 0) this.state.value = { kind: 'conflict' };
    else if (this.unsaved.length === 0) this.state.value = { kind: 'saved' };
    else if (![...this.#rejected].some(([key, value]) => parts.get(key) === value))
      this.state.value = { kind: 'saving' };
  }
}
