import { keyOf } from './facts.ts';
import type { Fact } from './facts.ts';

/** Keeps unsent facts in the browser, under a key for each thing that they are about, for all tabs of the learner. */
export interface FactStore {
  /** Whether the facts outlive the page: the browser's storage is neither blocked nor full. */
  isLasting(this: void): boolean;
  all(this: void): Fact[];
  /** Replaces the fact about the same thing. */
  put(this: void, fact: Fact): void;
  /** Removes a fact, unless another tab has replaced it. */
  remove(this: void, fact: Fact): void;
}

/**
 * @param storage null if the browser blocks it
 * @param learner key of the learner in this lesson
 */
export function factStore(storage: Storage | null, learner: string): FactStore {
  const prefix = prefixOf(learner);
  /** The facts that the browser does not store. */
  const inMemory = new Map<string, Fact>();
  const stored = (key: string) => readFact(storage?.getItem(prefix + key) ?? '');

  return {
    isLasting: () => storage !== null && inMemory.size === 0,
    all() {
      const keys = keysOf(storage).filter((key) => key.startsWith(prefix));
      const lasting = keys.flatMap((key) => readFact(storage?.getItem(key) ?? '') ?? []);
      return [...lasting.filter((fact) => !inMemory.has(keyOf(fact))), ...inMemory.values()];
    },
    put(fact) {
      const key = keyOf(fact);
      try {
        storage?.setItem(prefix + key, JSON.stringify(fact));
        if (storage !== null) inMemory.delete(key);
        else inMemory.set(key, fact);
      } catch {
        inMemory.set(key, fact);
      }
    },
    remove(fact) {
      const key = keyOf(fact);
      if (inMemory.get(key)?.id === fact.id) inMemory.delete(key);
      if (stored(key)?.id === fact.id) storage?.removeItem(prefix + key);
    },
  };
}

function prefixOf(learner: string): string {
  return `lectern:facts:${learner}:`;
}

/** Removes the facts of a learner whose data were erased. */
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

/** Reads a stored fact; undefined for anything else, which another release of this page may have stored. */
function readFact(text: string): Fact | undefined {
  try {
    const fact = JSON.parse(text) as Partial<Fact> | null;
    const isFact =
      typeof fact?.id === 'string' &&
      typeof fact.at === 'number' &&
      typeof fact.attempt === 'number' &&
      typeof fact.versionId === 'string' &&
      typeof fact.position?.stepId === 'string';
    return isFact ? (fact as Fact) : undefined;
  } catch {
    return undefined;
  }
}

function keysOf(storage: Storage | null): string[] {
  return Array.from({ length: storage?.length ?? 0 }, (_unused, index) => storage?.key(index) ?? '');
}
