import { expect } from 'vitest';
import type { Database } from '../../shared/models/database.ts';

/** Runs work in a process that dies after some operations on MongoDB. Returns whether it ended before. */
export async function crashAfter(
  db: Database,
  operations: number,
  work: (dying: Database) => Promise<unknown>,
): Promise<boolean> {
  let left = operations;
  const dying = new Proxy(db, {
    get(target, name) {
      if (left < 0) throw new Error('killed');
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function' || !('modelName' in value)) return value;
      left -= 1;
      if (left < 0) throw new Error('killed');
      return value;
    },
  });
  try {
    await work(dying);
    return true;
  } catch (error) {
    expect((error as Error).message).toBe('killed');
    return false;
  }
}
