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
  | 'online'
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

/** Returns the notices to show; none while there is no problem, or only a brief one. */
export function chooseNotices({ queue, isStored, isOnline, isStuck, hasLost }: Situation): NoticeName[] {
  const { hold, failures, writes } = queue;
  if (isStuck) return ['stuck'];
  if (hold === 'expired' && writes.length > 0 && isStored) return ['expired', 'kept'];
  if (hold === 'erased') return [];
  if (hold !== null) return [hold];
  // Shows the same notice with and without unsaved answers, so that screen readers announce it once.
  if (!isOnline) return ['offline', isStored ? 'kept' : 'keepOpen'];
  // A single failed request is no reason to worry the learner.
  if (writes.length > 0 && failures >= 2) return ['offline', isStored ? 'kept' : 'keepOpen'];
  return hasLost ? ['lost'] : [];
}
