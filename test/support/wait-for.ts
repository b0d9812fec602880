import { setTimeout as delay } from 'node:timers/promises';

/**
 * Polls `condition` until it returns a truthy value, and resolves with that. A condition that throws is not met yet.
 * The longer it takes, the rarer it asks: what waits for seconds would otherwise spend them on asking.
 *
 * @throws after `timeoutMs`, with the awaited event.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 30_000,
): Promise<NonNullable<T>> {
  const giveUpAt = Date.now() + timeoutMs;
  let trouble: unknown;
  let pauseMs = 10;
  do {
    try {
      const value = await condition();
      if (value) return value;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    pauseMs = Math.min(pauseMs * 1.4, 100);
    await delay(pauseMs);
  } while (Date.now() < giveUpAt);
  throw new Error(`Waited ${timeoutMs} ms in vain: ${what}`, { cause: trouble });
}
