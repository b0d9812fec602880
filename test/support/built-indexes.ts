import type { Database } from '../../shared/models/database.ts';

/** Names of this process's databases, which are random. */
const built = new Set<string>();

/**
 * Returns whether this process has built the indexes of a database before, and remembers that it does so now: to ask
 * for them again, as each process and each command does at its start, takes 38 requests.
 */
export function hasIndexes({ connection: { name } }: Database): boolean {
  if (built.has(name)) return true;
  // Databases of other servers may have the same name.
  if (name.startsWith('test-')) built.add(name);
  return false;
}

/** Makes the next process build the indexes, after a test has dropped one. */
export function forgetIndexes({ connection: { name } }: Database): void {
  built.delete(name);
}
