import type { DataStore } from '@tus/server';
import type { ImportLease } from '../models/import-queue.ts';

/** The bytes of uploaded packages, in the store that API and worker processes share. */
export interface Uploads {
  /** Reads and writes uploads for the tus protocol. */
  readonly tus: DataStore;
  /** Returns the id that `tus` uses for an import's upload. */
  fileId(importId: string): string;
  /** Returns the number of received bytes; null if there is no upload. */
  receivedBytes(importId: string): Promise<number | null>;
  /** Makes a complete upload survive a power failure. */
  sync(importId: string): Promise<void>;
  /** Runs work with the path of a complete upload on this machine. With a bucket, each run downloads its own copy. */
  withFile<T>(run: ImportLease, signal: AbortSignal, use: (path: string) => Promise<T>): Promise<T>;
  /** Removes the copies on this machine whose runs have ended, because their workers were killed. */
  removeLeftCopies(isRunning: (run: ImportLease) => Promise<boolean>): Promise<void>;
  /** Deletes an upload; does nothing if there is none. */
  remove(importId: string): Promise<void>;
  /** Returns the free bytes of the store; null if they are unknown. */
  freeBytes(): Promise<number | null>;
}
