import { noticeFor } from './notice-for.ts';
import type { NoticeName, Situation } from './notice-for.ts';
import { noticeBar } from './notices.ts';
import type { NoticeAction } from './notices.ts';

/** Tells a learner what has become of the answers, as long as there is something to tell. */
export interface LearnerNotices {
  root: HTMLElement;
  /** The situation may be another. */
  update(this: void): void;
  /** An answer was given up. The learner is told until another answer is saved. */
  lost(this: void): void;
  /** An answer was saved. */
  answerSaved(this: void): void;
}

/** Milliseconds that a line stays which says something once. */
const readingTime = 6000;

/**
 * @param language of the page
 * @param returnUrl leads to the course; null where nobody knows the way
 * @param actions what can be done about it
 */
export function learnerNotices(
  { language, returnUrl }: { language: string; returnUrl: string | null },
  look: () => Omit<Situation, 'hasLost'>,
  actions: Partial<Record<NoticeName, NoticeAction>>,
): LearnerNotices {
  const bar = noticeBar(language, returnUrl);
  let hasLost = false;
  let lostAt = 0;
  let isTroubled = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function update(): void {
    const situation = look();
    const texts = noticeFor({ ...situation, hasLost });
    const [first] = texts;
    if (first !== undefined) {
      clearTimeout(timer);
      timer = undefined;
      bar.show(texts, actions[first]);
      isTroubled = first !== 'lost' && first !== 'stuck';
    } else if (isTroubled && situation.queue.writes.length === 0) {
      isTroubled = false;
      bar.show(['saved']);
      timer = setTimeout(() => bar.show([]), readingTime);
    } else if (!isTroubled && timer === undefined) {
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
      // Others may follow at once, and a line has to be read first.
      if (!hasLost || Date.now() - lostAt < readingTime) return;
      hasLost = false;
      update();
    },
  };
}
