import type { SaveQueue } from './save-queue.ts';

/** The notices about answers. Each has a message `notice.<name>`. */
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

/** The state that decides which notices to show. */
export interface Situation {
  queue: SaveQueue;
  /** Whether unsaved answers outlive the page. */
  isStored: boolean;
  isOnline: boolean;
  /** Whether the frame with the lesson does not respond. */
  isStuck: boolean;
  /** Whether an answer was lost, and none saved since. */
  hasLost: boolean;
}

/** Returns the notices to show; none while all is well, or may be in a moment. */
export function chooseNotices({ queue, isStored, isOnline, isStuck, hasLost }: Situation): NoticeName[] {
  const { hold, failures, writes } = queue;
  if (isStuck) return ['stuck'];
  if (hold === 'expired' && writes.length > 0 && isStored) return ['expired', 'kept'];
  if (hold !== null) return [hold];
  // A single failed request is no reason to worry the learner.
  if (writes.length > 0 && failures >= (isOnline ? 2 : 1)) return ['offline', isStored ? 'kept' : 'keepOpen'];
  return hasLost ? ['lost'] : [];
}
