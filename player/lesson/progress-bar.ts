import { element } from '../dom.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { PlayedLesson, PlayedSection } from './read-lesson.ts';
import { message } from '../../shared/i18n/message.ts';

/** From this number of steps on, a section has one bar instead of a tick per step, for which there is no space. */
const barsFromSteps = 50;

/** The seen steps of each section. */
export interface ProgressBar {
  bar: HTMLElement;
  show(progress: LessonProgress): void;
}

/** The part of the bar that belongs to a section. */
interface SectionBar {
  group: HTMLElement;
  show(progress: LessonProgress, seenSteps: ReadonlySet<string>): void;
}

export function progressBar(lesson: PlayedLesson, language: string): ProgressBar {
  const steps = lesson.steps.length;
  const bar = element('div', {
    class: steps < barsFromSteps ? 'lectern-progress' : 'lectern-progress lectern-is-fine',
    role: 'progressbar',
    'aria-label': message(language, 'lesson.progress'),
    'aria-valuemin': '0',
    'aria-valuemax': String(steps),
  });
  const sections = lesson.sections.filter((section) => section.steps.length > 0);
  bar.style.setProperty('--lectern-sections', String(sections.length));
  const parts = sections.map(steps < barsFromSteps ? sectionTicks : sectionShare);
  bar.append(...parts.map(({ group }) => group));

  return {
    bar,
    show(progress) {
      const seenSteps = new Set(progress.visited);
      const seen = lesson.steps.filter(({ id }) => seenSteps.has(id)).length;
      bar.setAttribute('aria-valuenow', String(seen));
      bar.setAttribute('aria-valuetext', message(language, 'lesson.seenSteps', { seen, steps }));
      for (const part of parts) part.show(progress, seenSteps);
    },
  };
}

function sectionTicks({ steps }: PlayedSection): SectionBar {
  const ticks = steps.map((step) => ({ step, tick: element('span', { class: 'lectern-tick' }) }));
  return {
    group: sectionGroup(steps.length, ...ticks.map(({ tick }) => tick)),
    show({ index, atEnd }, seenSteps) {
      for (const { step, tick } of ticks) {
        tick.classList.toggle('lectern-is-seen', seenSteps.has(step.id));
        tick.classList.toggle('lectern-is-current', step.index === index && !atEnd);
      }
    },
  };
}

function sectionShare({ steps }: PlayedSection): SectionBar {
  const seen = element('span', { class: 'lectern-tick lectern-is-seen' });
  const rest = element('span', { class: 'lectern-tick' });
  return {
    group: sectionGroup(steps.length, seen, rest),
    show(_progress, seenSteps) {
      const count = steps.filter(({ id }) => seenSteps.has(id)).length;
      seen.style.flexGrow = String(count);
      rest.style.flexGrow = String(steps.length - count);
    },
  };
}

function sectionGroup(steps: number, ...children: HTMLElement[]): HTMLElement {
  const group = element('div', { class: 'lectern-progress-section' }, ...children);
  group.style.flexGrow = String(steps);
  return group;
}
