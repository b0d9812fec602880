import { element } from '../dom.ts';
import { fill } from '../words.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { LessonWords } from './lesson-words.ts';
import type { PlayedLesson } from './read-lesson.ts';

/** From this number of steps on, the ticks touch: there is no room between them on a narrow screen. */
const fineFrom = 50;

/** One tick a step, in groups of sections: filled for those that were seen. */
export interface ProgressBar {
  bar: HTMLElement;
  show(progress: LessonProgress): void;
}

export function progressBar(lesson: PlayedLesson, words: LessonWords, language: string): ProgressBar {
  const steps = lesson.steps.length;
  const bar = element('div', {
    class: `lectern-progress ${steps < fineFrom ? '' : 'lectern-is-fine'}`,
    role: 'progressbar',
    'aria-label': words.progress,
    'aria-valuemin': '0',
    'aria-valuemax': String(steps),
  });
  const sections = lesson.sections.filter((section) => section.steps.length > 0);
  bar.style.setProperty('--lectern-sections', String(sections.length));
  const ticks = sections.flatMap((section) => {
    const group = element('div', { class: 'lectern-progress-section' });
    group.style.flexGrow = String(section.steps.length);
    bar.append(group);
    return section.steps.map((step) => {
      const tick = element('span', { class: 'lectern-tick' });
      group.append(tick);
      return { step, tick };
    });
  });

  return {
    bar,
    show({ index, atEnd, visited }) {
      const seenSteps = new Set(visited);
      const seen = lesson.steps.filter(({ id }) => seenSteps.has(id)).length;
      bar.setAttribute('aria-valuenow', String(seen));
      bar.setAttribute('aria-valuetext', fill(words.seenSteps, { seen, steps }, language));
      for (const { step, tick } of ticks) {
        tick.classList.toggle('lectern-is-seen', seenSteps.has(step.id));
        tick.classList.toggle('lectern-is-current', step.index === index && !atEnd);
      }
    },
  };
}
