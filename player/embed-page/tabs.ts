import type { Leftover } from './abandoned-saves.ts';
import { readLeftover } from './queue-store.ts';
import { readRecord } from './session-record.ts';
import type { SessionRecord } from './session-record.ts';

/** The tabs of one browser that show a lesson to the same learner. The one that was opened last goes on. */
export interface Tabs {
  /** Tells the others that this one goes on. */
  take(this: void): void;
  /** Hands over what is not saved, and what the server has. */
  give(this: void, leftover: Leftover, record: SessionRecord): void;
}

/**
 * @param learner names the learner in this lesson
 * @param tab names this tab
 */
export function openTabs(
  learner: string,
  tab: string,
  on: {
    taken(this: void): void;
    given(this: void, leftover: Leftover, record: SessionRecord, tab: string): void;
  },
): Tabs {
  const channel = openChannel(`lectern:${learner}`);
  const openedAt = Date.now();
  channel?.addEventListener('message', ({ data }: MessageEvent<Partial<TabMessage> | null>) => {
    if (typeof data?.tab !== 'string' || data.tab === tab) return;
    if (data.type === 'take') {
      // Of tabs that a browser opens at once, one goes on and not none.
      const { at = 0 } = data;
      if (at > openedAt || (at === openedAt && data.tab > tab)) on.taken();
      return;
    }
    const leftover = readLeftover(data.leftover);
    const record = readRecord(data.record);
    if (leftover && record) on.given(leftover, record, data.tab);
  });
  const post = (message: TabMessage) => channel?.postMessage(message);
  return {
    take: () => post({ type: 'take', tab, at: openedAt }),
    give: (leftover, record) => post({ type: 'give', tab, leftover, record }),
  };
}

/** Undefined where there is none: what is not told over it is noticed at the next write, by the server. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    // Firefox refuses it together with storage.
    return undefined;
  }
}

interface TabMessage {
  type: 'take' | 'give';
  tab: string;
  /** When the tab was opened, Unix milliseconds. */
  at?: number;
  leftover?: unknown;
  record?: unknown;
}
