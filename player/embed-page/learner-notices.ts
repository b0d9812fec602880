import { chooseNotices } from './choose-notices.ts';
import type { NoticeName, Situation } from './choose-notices.ts';
import { noticeBar } from './notices.ts';
import type { NoticeAction } from './notices.ts';

/** Shows the learner what happens to their answers, while that needs attention. */
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
 * @param language of the page
 * @param returnUrl the course; null if unknown
 * @param actions buttons of notices
 */
export function learnerNotices(
  { language, returnUrl }: { language: string; returnUrl: string | null },
  situationNow: () => Omit<Situation, 'hasLost'>,
  actions: Partial<Record<NoticeName, NoticeAction>>,
): LearnerNotices {
  const bar = noticeBar(language, returnUrl);
  let hasLost = false;
  let lostAt = 0;
  let hasWarned = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function update(): void {
    const situation = situationNow();
    const notices = chooseNotices({ ...situation, hasLost });
    const [first] = notices;
    if (first !== undefined) {
      clearTimeout(timer);
      timer = undefined;
      bar.show(notices, actions[first]);
      hasWarned = first !== 'lost' && first !== 'stuck';
    } else if (hasWarned && situation.queue.writes.length === 0) {
      hasWarned = false;
      bar.show(['saved']);
      timer = setTimeout(() => bar.show([]), readingTimeMs);
    } else if (!hasWarned && timer === undefined) {
      bar.show([]);
    }
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
