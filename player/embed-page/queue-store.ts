import type { AbandonedSaves } from './abandoned-saves.ts';
import type { QueuedWrite } from './queued-write.ts';

/** Stores unsaved writes in the browser, under a separate key for each tab. */
export interface QueueStore {
  /** Returns false if the browser's storage is blocked or full. */
  save(this: void, saves: AbandonedSaves): boolean;
  /** Returns the unsaved writes of other tabs, by the tabs' ids. */
  others(this: void): Map<string, AbandonedSaves>;
  /** Removes another tab's writes, which this tab has stored. */
  forget(this: void, tab: string): void;
}

/**
 * @param storage null if the browser blocks it
 * @param learner key of the learner in this lesson
 * @param tab id of this tab
 */
export function queueStore(storage: Storage | null, learner: string, tab: string): QueueStore {
  const prefix = prefixOf(learner);
  const own = prefix + tab;
  return {
    save(saves) {
      try {
        if (saves.writes.length === 0) storage?.removeItem(own);
        else storage?.setItem(own, JSON.stringify(saves));
        return storage !== null;
      } catch {
        return false;
      }
    },
    others() {
      const found = new Map<string, AbandonedSaves>();
      for (const key of keysOf(storage)) {
        if (!key.startsWith(prefix) || key === own) continue;
        const saves = readAbandonedSaves(storage?.getItem(key) ?? '');
        if (saves !== undefined) found.set(key.slice(prefix.length), saves);
      }
      return found;
    },
    forget(tab) {
      storage?.removeItem(prefix + tab);
    },
  };
}

function prefixOf(learner: string): string {
  return `lectern:queue:${learner}:`;
}

/** Removes the writes of all tabs of a learner whose data were erased. */
export function forgetLearner(storage: Storage | null, learner: string): void {
  for (const key of keysOf(storage)) {
    if (key.startsWith(prefixOf(learner))) storage?.removeItem(key);
  }
}

/** Opens a storage; null if the browser blocks it, as it may in frames. */
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

/** Reads unsaved writes from the storage or another tab; undefined for anything else. */
export function readAbandonedSaves(value: unknown): AbandonedSaves | undefined {
  try {
    const { base, writes, known } = (
      typeof value === 'string' ? JSON.parse(value) : value
    ) as Partial<AbandonedSaves>;
    const isWhole =
      typeof base === 'number' && Array.isArray(writes) && writes.every(isWrite) && Array.isArray(known);
    return isWhole ? { base, writes, known } : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the shape, because another release of this page may have stored the write. */
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
