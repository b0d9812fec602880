import type { SaverState } from './saver.ts';

/** The notices about answers. Each has a message `notice.<name>`. */
export type NoticeName =
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
  saving: SaverState;
  /** Whether unsaved answers outlive the page. */
  isStored: boolean;
  isOnline: boolean;
  /** Whether the frame with the lesson does not respond. */
  isStuck: boolean;
  /** Whether an answer was lost, and none saved since. */
  hasLost: boolean;
}

/** Returns the notices to show; none while there is no problem, or only a brief one. */
export function chooseNotices({ saving, isStored, isOnline, isStuck, hasLost }: Situation): NoticeName[] {
  const { hold, failures, unsent } = saving;
  if (isStuck) return ['stuck'];
  if (hold === 'expired' && unsent > 0 && isStored) return ['expired', 'kept'];
  if (hold === 'erased') return [];
  if (hold !== null) return [hold];
  // Shows the same notice with and without unsaved answers, so that screen readers announce it once.
  if (!isOnline) return ['offline', isStored ? 'kept' : 'keepOpen'];
  // A single failed request is no reason to worry the learner.
  if (unsent > 0 && failures >= 2) return ['offline', isStored ? 'kept' : 'keepOpen'];
  return hasLost ? ['lost'] : [];
}
