import type { Leftover } from './abandoned-saves.ts';
import type { QueuedWrite } from './queued-write.ts';

/** Where a tab keeps what is not saved yet. Each has a place of its own, so that none overwrites another's. */
export interface QueueStore {
  /** False when the browser does not keep it: storage is blocked or full. */
  keep(this: void, leftover: Leftover): boolean;
  /** What other tabs left, by their ids. */
  others(this: void): Map<string, Leftover>;
  /** Forgets what another tab left, when it is kept here. */
  forget(this: void, tab: string): void;
}

/**
 * @param storage null where the browser blocks it
 * @param learner names the learner in this lesson
 * @param tab names this tab
 */
export function queueStore(storage: Storage | null, learner: string, tab: string): QueueStore {
  const prefix = `lectern:queue:${learner}:`;
  const own = prefix + tab;
  return {
    keep(leftover) {
      try {
        if (leftover.writes.length === 0) storage?.removeItem(own);
        else storage?.setItem(own, JSON.stringify(leftover));
        return storage !== null;
      } catch {
        return false;
      }
    },
    others() {
      const found = new Map<string, Leftover>();
      for (const key of keysOf(storage)) {
        if (!key.startsWith(prefix) || key === own) continue;
        const leftover = readLeftover(storage?.getItem(key) ?? '');
        if (leftover !== undefined) found.set(key.slice(prefix.length), leftover);
      }
      return found;
    },
    forget(tab) {
      storage?.removeItem(prefix + tab);
    },
  };
}

/** The storage of a kind; null where the browser blocks it, as it may in frames. */
export function openStorage(kind: 'localStorage' | 'sessionStorage'): Storage | null {
  try {
    const storage = window[kind];
    storage.setItem('lectern:probe', '');
    storage.removeItem('lectern:probe');
    return storage;
  } catch {
    return null;
  }
}

/** Reads what {@link QueueStore} keeps, or what another tab sent; undefined for anything else. */
export function readLeftover(value: unknown): Leftover | undefined {
  try {
    const { base, writes, known } = (
      typeof value === 'string' ? JSON.parse(value) : value
    ) as Partial<Leftover>;
    const isWhole =
      typeof base === 'number' && Array.isArray(writes) && writes.every(isWrite) && Array.isArray(known);
    return isWhole ? { base, writes, known } : undefined;
  } catch {
    return undefined;
  }
}

/** Another release of this page may have left it. */
function isWrite(value: unknown): value is QueuedWrite {
  const write = value as Partial<QueuedWrite> | null;
  return (
    typeof write?.writeId === 'string' &&
    typeof write.versionId === 'string' &&
    typeof write.place?.stepId === 'string' &&
    typeof write.at === 'number' &&
    Array.isArray(write.answers) &&
    Array.isArray(write.setVariables) &&
    write.progressData !== undefined &&
    write.variables !== undefined
  );
}

function keysOf(storage: Storage | null): string[] {
  return Array.from({ length: storage?.length ?? 0 }, (_unused, index) => storage?.key(index) ?? '');
}
