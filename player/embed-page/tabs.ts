import type { AbandonedSaves } from './abandoned-saves.ts';
import { readAbandonedSaves } from './queue-store.ts';
import { readRecord } from './session-record.ts';
import type { SessionRecord } from './session-record.ts';

/** The tabs of a browser that show a lesson to the same learner. The one that opened last continues. */
export interface Tabs {
  /** Announces that this tab continues. */
  takeOver(this: void): void;
  /** Sends this tab's unsaved writes and record to the others. */
  handOver(this: void, saves: AbandonedSaves, record: SessionRecord): void;
}

/**
 * @param learner key of the learner in this lesson
 * @param tab id of this tab
 */
export function openTabs(
  learner: string,
  tab: string,
  on: {
    takenOver(this: void): void;
    handedOver(this: void, saves: AbandonedSaves, record: SessionRecord, tab: string): void;
  },
): Tabs {
  const channel = openChannel(`lectern:${learner}`);
  const openedAt = Date.now();
  channel?.addEventListener('message', ({ data }: MessageEvent<Partial<TabMessage> | null>) => {
    if (typeof data?.tab !== 'string' || data.tab === tab) return;
    if (data.type === 'take') {
      // Exactly one of several tabs that open at the same time continues.
      const { at = 0 } = data;
      if (at > openedAt || (at === openedAt && data.tab > tab)) on.takenOver();
      return;
    }
    const saves = readAbandonedSaves(data.leftover);
    const record = readRecord(data.record);
    if (saves && record) on.handedOver(saves, record, data.tab);
  });
  const post = (message: TabMessage) => channel?.postMessage(message);
  return {
    takeOver: () => post({ type: 'take', tab, at: openedAt }),
    handOver: (saves, record) => post({ type: 'give', tab, leftover: saves, record }),
  };
}

/** Returns undefined if the browser has no channels: the server then detects the conflict at the next write. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    // Firefox blocks it together with storage.
    return undefined;
  }
}

/** Tabs of other releases read it, so the fields keep their names. */
interface TabMessage {
  type: 'take' | 'give';
  tab: string;
  /** Unix time in milliseconds at which the tab opened. */
  at?: number;
  leftover?: unknown;
  record?: unknown;
}
