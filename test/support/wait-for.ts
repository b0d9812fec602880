import { setTimeout as delay } from 'node:timers/promises';

/**
 * Looks again and again until `condition` returns something true, and resolves with that. After `deadlineMs` it
 * throws an error that says what was waited for. A condition that throws counts as not met yet.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs = 10_000,
): Promise<NonNullable<T>> {
  const giveUpAt = Date.now() + deadlineMs;
  let trouble: unknown;
  do {
    try {
      const value = await condition();
      if (value) return value;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    await delay(20);
  } while (Date.now() < giveUpAt);
  throw new Error(`Waited ${deadlineMs} ms in vain: ${what}`, { cause: trouble });
}
