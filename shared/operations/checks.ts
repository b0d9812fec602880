import { withDeadline } from '../deadline.ts';
import { messageOf } from '../errors.ts';
import type { Logger } from '../log.ts';

/** A check that does not answer within this time has failed. */
const checkMilliseconds = 5_000;

/** What a process needs to do its work, by name; a check that rejects says what is wrong. */
export type Checks = Record<string, () => Promise<unknown>>;

export interface Readiness {
  ready: boolean;
  /** 'ok' or 'failed'; the reasons are in the log, as they can name hosts. */
  checks: Record<string, 'ok' | 'failed'>;
}

/** Makes all checks at once. */
export async function runChecks(checks: Checks, log: Logger): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await withDeadline(check(), checkMilliseconds);
        return [name, 'ok'] as const;
      } catch (error) {
        log.warn({ check: name, reason: messageOf(error) }, 'not ready');
        return [name, 'failed'] as const;
      }
    }),
  );
  return { ready: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) };
}
