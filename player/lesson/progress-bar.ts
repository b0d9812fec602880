import { element } from '../dom.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { PlayedLesson } from './read-lesson.ts';
import { message } from '../../shared/i18n/message.ts';

/** From this number of steps on, the ticks have no gaps, for which narrow screens have no space. */
const fineFromSteps = 50;

/** A tick for each step, grouped by section; the ticks of seen steps are filled. */
export interface ProgressBar {
  bar: HTMLElement;
  show(progress: LessonProgress): void;
}

export function progressBar(lesson: PlayedLesson, language: string): ProgressBar {
  const steps = lesson.steps.length;
  const bar = element('div', {
    class: `lectern-progress ${steps < fineFromSteps ? '' : 'lectern-is-fine'}`,
    role: 'progressbar',
    'aria-label': message(language, 'lesson.progress'),
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
      bar.setAttribute('aria-valuetext', message(language, 'lesson.seenSteps', { seen, steps }));
      for (const { step, tick } of ticks) {
        tick.classList.toggle('lectern-is-seen', seenSteps.has(step.id));
        tick.classList.toggle('lectern-is-current', step.index === index && !atEnd);
      }
    },
  };
}
