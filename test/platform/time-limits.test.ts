import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { onAbort, untilAborted as until } from '../../shared/platform/abort-listeners.ts';
import { withTimeLimit } from '../../shared/platform/time-limits.ts';

/** Rejects with the reason of a signal; only the signal refers to it. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

/** Collects garbage until something has settled. */
async function collectDuring(work: Promise<unknown>): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let settled = false;
  const end = () => (settled = true);
  work.then(end, end);
  while (!settled) {
    collect();
    await setImmediate();
  }
}

test('garbage collection does not remove a timeout', async () => {
  const { signal } = new AbortController();
  const work = withTimeLimit({ timeoutMs: 100, signal }, untilAborted);
  await collectDuring(work);
  await expect(work).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('aborting the caller aborts the work before its timeout, with the same reason', async () => {
  const caller = new AbortController();
  const work = withTimeLimit({ timeoutMs: 60_000, signal: caller.signal }, untilAborted);
  caller.abort(new Error('the caller is gone'));
  await expect(work).rejects.toThrow('the caller is gone');
});

test('a signal that was aborted before ends the wait at once, as one that is aborted meanwhile', async () => {
  const never = new Promise<never>(() => undefined);
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(until(never, gone)).rejects.toThrow('gone');
  const calls: string[] = [];
  onAbort(gone, () => calls.push('called'));
  onAbort(gone, () => calls.push('removed'))();
  await setImmediate();
  expect(calls).toEqual(['called']);
});
