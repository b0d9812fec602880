import { readLeftover } from './queue-store.ts';
import type { Leftover } from './save-queue.ts';

/** The tabs of one browser that show a lesson to the same learner. The one that was opened last goes on. */
export interface Tabs {
  /** Tells the others that this one goes on. */
  take(this: void): void;
  /** Hands over what is not saved. */
  give(this: void, leftover: Leftover): void;
  close(this: void): void;
}

/**
 * @param learner names the learner in this lesson
 * @param tab names this tab
 */
export function openTabs(
  learner: string,
  tab: string,
  on: { taken(this: void): void; given(this: void, leftover: Leftover, tab: string): void },
): Tabs {
  // What is not told over a channel is noticed at the next write, by the server.
  const channel = 'BroadcastChannel' in window ? new BroadcastChannel(`lectern:${learner}`) : undefined;
  channel?.addEventListener('message', ({ data }: MessageEvent<Record<string, unknown> | null>) => {
    if (data?.type === 'take' && data.tab !== tab) on.taken();
    const leftover = data?.type === 'give' ? readLeftover(data.leftover) : undefined;
    if (leftover && typeof data?.tab === 'string' && data.tab !== tab) on.given(leftover, data.tab);
  });
  return {
    take: () => channel?.postMessage({ type: 'take', tab }),
    give: (leftover) => channel?.postMessage({ type: 'give', tab, leftover }),
    close: () => channel?.close(),
  };
}
