import { session } from '../../shell/session.ts';
import type { StepContent } from '../model/blocks.ts';
import type { PartKey, Skeleton } from '../model/lesson-document.ts';

/** A part that this browser keeps until the server has it. */
export interface LocalCopy {
  readonly draftId: string;
  readonly key: PartKey;
  /** The revision on which it builds; 0 for a new step. */
  readonly revision: number;
  readonly value: Skeleton | StepContent;
  /** When it was written, in milliseconds. */
  readonly at: number;
}

const storeName = 'parts';

/** The database is opened for each use, so that no page keeps another one from deleting it. */
function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open('lectern-editor', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(storeName);
  return resultOf(opening);
}

function resultOf<T>(asked: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error ?? new Error('IndexedDB failed'));
  });
}

/** Browsers without storage, such as in some private windows, keep nothing: saving goes on without copies. */
async function withStore<T>(use: (store: IDBObjectStore) => Promise<T>, otherwise: T): Promise<T> {
  try {
    const database = await openDatabase();
    try {
      return await use(database.transaction(storeName, 'readwrite').objectStore(storeName));
    } finally {
      // It closes after its transaction.
      database.close();
    }
  } catch {
    return otherwise;
  }
}

/** The user is part of the key: others who use the browser get nothing of it. */
function prefixOf(lessonId: string): string {
  return `${session.peek()?.user.id ?? ''} ${lessonId} `;
}

/** Returns what the browser keeps of a lesson. */
export function readCopies(lessonId: string): Promise<LocalCopy[]> {
  const prefix = prefixOf(lessonId);
  const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
  return withStore(async (store) => (await resultOf(store.getAll(range))) as LocalCopy[], []);
}

/** Keeps a part. */
export async function writeCopy(lessonId: string, copy: LocalCopy): Promise<void> {
  await withStore((store) => resultOf(store.put(copy, prefixOf(lessonId) + copy.key)), undefined);
}

/** Forgets a part, which the server has. */
export async function removeCopy(lessonId: string, key: PartKey): Promise<void> {
  await withStore((store) => resultOf(store.delete(prefixOf(lessonId) + key)), undefined);
}

/** Forgets all parts of a lesson. */
export async function removeCopies(lessonId: string): Promise<void> {
  for (const { key } of await readCopies(lessonId)) await removeCopy(lessonId, key);
}
