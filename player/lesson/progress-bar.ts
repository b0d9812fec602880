import { element } from '../dom.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { PlayedLesson, PlayedSection } from './read-lesson.ts';
import { message } from '../../shared/i18n/message.ts';

/** The minimum space of a step, in CSS pixels. With less, a section has one bar instead of a tick for each step. */
const minTickPixels = 16;

/** The seen steps of each section. */
export interface ProgressBar {
  bar: HTMLElement;
  show(progress: LessonProgress): void;
  destroy(): void;
}

/** The part of the bar that belongs to a section. */
interface SectionBar {
  group: HTMLElement;
  show(progress: LessonProgress, seenSteps: ReadonlySet<string>): void;
}

export function progressBar(lesson: PlayedLesson, language: string): ProgressBar {
  const steps = lesson.steps.length;
  const bar = element('div', {
    class: 'lectern-progress',
    role: 'progressbar',
    'aria-label': message(language, 'lesson.progress'),
    'aria-valuemin': '0',
    'aria-valuemax': String(steps),
  });
  const sections = lesson.sections.filter((section) => section.steps.length > 0);
  bar.style.setProperty('--lectern-sections', String(sections.length));
  let hasTicks: boolean | undefined;
  let parts: SectionBar[] = [];
  let shown: LessonProgress | undefined;

  /** Shows ticks or sections, whichever there is space for. */
  function measure(): void {
    const hasSpace = bar.clientWidth >= steps * minTickPixels;
    if (hasSpace === hasTicks) return;
    hasTicks = hasSpace;
    parts = sections.map(hasTicks ? sectionTicks : sectionShare);
    bar.replaceChildren(...parts.map(({ group }) => group));
    if (shown) show(shown);
  }

  function show(progress: LessonProgress): void {
    shown = progress;
    const seenSteps = new Set(progress.visited);
    const seen = lesson.steps.filter(({ id }) => seenSteps.has(id)).length;
    bar.setAttribute('aria-valuenow', String(seen));
    bar.setAttribute('aria-valuetext', message(language, 'lesson.seenSteps', { seen, steps }));
    for (const part of parts) part.show(progress, seenSteps);
  }

  const observer = new ResizeObserver(measure);
  observer.observe(bar);
  return { bar, show, destroy: () => observer.disconnect() };
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

/** Shows how much of a section was seen, and whether the learner is in it. */
function sectionShare({ steps }: PlayedSection): SectionBar {
  const seen = element('span', { class: 'lectern-tick lectern-is-seen' });
  const rest = element('span', { class: 'lectern-tick' });
  const group = sectionGroup(steps.length, seen, rest);
  group.classList.add('lectern-is-whole');
  return {
    group,
    show({ index, atEnd }, seenSteps) {
      const count = steps.filter(({ id }) => seenSteps.has(id)).length;
      seen.style.flexGrow = String(count);
      rest.style.flexGrow = String(steps.length - count);
      const isHere = !atEnd && steps.some((step) => step.index === index);
      group.classList.toggle('lectern-is-current', isHere);
    },
  };
}

function sectionGroup(steps: number, ...children: HTMLElement[]): HTMLElement {
  const group = element('div', { class: 'lectern-progress-section' }, ...children);
  group.style.flexGrow = String(steps);
  return group;
}
