import type { NoticeTexts } from './boot.ts';
import { chooseNotices } from './choose-notices.ts';
import type { NoticeName, Situation } from './choose-notices.ts';
import { noticeBar } from './notices.ts';
import type { NoticeAction } from './notices.ts';

/** Tells the learner about problems with saving answers. */
export interface LearnerNotices {
  root: HTMLElement;
  /** Shows the notices for the current situation. */
  update(this: void): void;
  /** Reports a lost answer. The notice stays until another answer is saved. */
  lost(this: void): void;
  /** Reports a saved answer. */
  answerSaved(this: void): void;
}

/** How long a notice without an action stays. */
const readingTimeMs = 6000;

/**
 * @param returnUrl the course; null if unknown
 * @param actions buttons of notices
 */
export function learnerNotices(
  { texts, returnUrl }: { texts: NoticeTexts; returnUrl: string | null },
  situationNow: () => Omit<Situation, 'hasLost'>,
  actions: Partial<Record<NoticeName, NoticeAction>>,
): LearnerNotices {
  const bar = noticeBar(texts, returnUrl);
  let hasLost = false;
  let lostAt = 0;
  /** The kind of the last warning, after which a notice reports that all is well again. */
  let warned: 'offline' | 'other' | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function update(): void {
    const situation = situationNow();
    const notices = chooseNotices({ ...situation, hasLost });
    const [first] = notices;
    if (first !== undefined) {
      clearTimeout(timer);
      timer = undefined;
      bar.show(notices, actions[first]);
      if (first === 'offline') warned = 'offline';
      else warned = first === 'lost' || first === 'stuck' ? undefined : 'other';
    } else if (warned === 'offline') {
      // Announces the connection at once. The notice that the answers are saved follows without an announcement.
      warned = situation.saving.unsent > 0 ? 'other' : undefined;
      showBriefly('online');
    } else if (warned === 'other' && situation.saving.unsent === 0) {
      warned = undefined;
      showBriefly('saved');
    } else if (warned === undefined && timer === undefined) {
      bar.show([]);
    }
  }

  function showBriefly(notice: 'online' | 'saved'): void {
    clearTimeout(timer);
    bar.show([notice]);
    timer = setTimeout(() => bar.show([]), readingTimeMs);
  }

  return {
    root: bar.root,
    update,
    lost() {
      hasLost = true;
      lostAt = Date.now();
      update();
    },
    answerSaved() {
      // Other answers may be saved at once, but the learner needs time to read the notice.
      if (!hasLost || Date.now() - lostAt < readingTimeMs) return;
      hasLost = false;
      update();
    },
  };
}
