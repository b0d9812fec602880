import type { SaveQueue } from './save-queue.ts';

/** What a learner reads about the answers: a message `notice.<name>` each. */
export type NoticeName =
  | 'conflict'
  | 'elsewhere'
  | 'expired'
  | 'gone'
  | 'keepOpen'
  | 'kept'
  | 'lost'
  | 'offline'
  | 'saved'
  | 'stuck';

/** What decides on what a learner is told. */
export interface Situation {
  queue: SaveQueue;
  /** Whether what is not saved outlives the page. */
  isKept: boolean;
  isOnline: boolean;
  /** The frame with the lesson does not answer. */
  isStuck: boolean;
  /** An answer was given up a moment ago. */
  hasLost: boolean;
}

/** What to tell; nothing when all is well, or may be in a moment. */
export function noticeFor({ queue, isKept, isOnline, isStuck, hasLost }: Situation): NoticeName[] {
  const { hold, failures, writes } = queue;
  if (isStuck) return ['stuck'];
  if (hold === 'expired' && writes.length > 0 && isKept) return ['expired', 'kept'];
  if (hold !== null) return [hold];
  // One request that fails is no reason to trouble anybody.
  if (writes.length > 0 && failures >= (isOnline ? 2 : 1)) return ['offline', isKept ? 'kept' : 'keepOpen'];
  return hasLost ? ['lost'] : [];
}
