import { shareOf } from './score.ts';
import type { Points } from './score.ts';
import type { FinishedAttempt } from './state.ts';
import type { ProgressWrite } from './write.ts';

/**
 * The attempt that counts in gradebooks after a write: the last one that was finished. It stays while another is under
 * way. Its points rise with answers that come later, and never fall: neither a question of a new version nor another
 * answer takes anything from who has finished.
 *
 * @param points of the attempt that the write is part of, with the write.
 */
export function finishedAfter(
  before: FinishedAttempt | null,
  { restart, completed }: Pick<ProgressWrite, 'restart' | 'completed'>,
  points: Points,
  now: Date,
): FinishedAttempt | null {
  if (before?.isCurrent && !restart) {
    return shareOf(points) > shareOf(before) ? { ...before, ...points } : before;
  }
  if (completed) return { ...points, at: now, isCurrent: true };
  return before && { ...before, isCurrent: false };
}
