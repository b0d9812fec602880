import { element, icon } from '../dom.ts';
import { message } from '../../shared/i18n/message.ts';
import { activeElement } from './focus.ts';
import type { LessonOptions } from './options.ts';

/** Below this width, one bar at the bottom has everything. */
const compactBelowPixels = 640;

/** The controls that stay in view while the learner scrolls. */
export interface StepBar {
  /** Above the step: title and, on wide pages, contents, position and progress. */
  header: HTMLElement;
  /** Before the step in reading order: on narrow pages, contents, position and progress. They share the bar's place. */
  tools: HTMLElement;
  /** Below the step: Back and Next. */
  bar: HTMLElement;
  /** Shows the current position, such as "Step 3 of 9". */
  setPosition(text: string): void;
  back: HTMLButtonElement;
  next: HTMLButtonElement;
  /** Sets the text of the Next button; undefined hides Back and Next. */
  setNext(label: string | undefined): void;
  destroy(): void;
}

/**
 * Makes the header and the bar. Back and Next are below the step on all pages, where a reader arrives at the end.
 *
 * @param root the player's element, whose width decides
 */
export function stepBar(
  root: HTMLElement,
  {
    title,
    logo,
    status,
    language,
  }: { title: string; language: string } & Pick<LessonOptions, 'logo' | 'status'>,
  contents: HTMLElement,
  progress: HTMLElement,
): StepBar {
  const position = element('p');
  const place = element('div', { class: 'lectern-place' }, position, ...(status ? [status] : []));
  const back = element(
    'button',
    { class: 'lectern-button lectern-is-quiet lectern-back', type: 'button' },
    icon('back'),
    element('span', {}, message(language, 'lesson.back')),
  );
  const label = element('span');
  const next = element('button', { class: 'lectern-button', type: 'button' }, label, icon('forward'));
  const steps = element(
    'nav',
    { class: 'lectern-steps', 'aria-label': message(language, 'lesson.steps') },
    back,
    next,
  );
  const header = element(
    'header',
    { class: 'lectern-header' },
    element('p', { class: 'lectern-lesson-title', title }, title),
  );
  if (logo) header.prepend(element('img', { class: 'lectern-logo', src: logo.src, alt: logo.alt }));
  const bar = element('div', { class: 'lectern-bar' }, steps);
  const tools = element('div', { class: 'lectern-tools' });
  let isCompact: boolean | undefined;

  function measure(): void {
    const { clientWidth } = root;
    const { offsetWidth } = steps;
    // The tools leave this space to the buttons, whose texts have any length.
    tools.style.setProperty('--lectern-steps-size', `${offsetWidth}px`);
    const isNow = clientWidth < compactBelowPixels;
    if (isNow === isCompact) return hideCutPosition();
    isCompact = isNow;
    root.classList.toggle('lectern-is-compact', isCompact);
    const focused = activeElement(root);
    if (isCompact) tools.append(contents, place, progress);
    else {
      header.prepend(contents);
      header.append(place, progress);
    }
    // Moving an element takes the focus from it.
    if (focused === contents) contents.focus({ preventScroll: true });
    hideCutPosition();
  }

  /** Hides the position, except from screen readers, where long words or wide letters do not fit into the bar. */
  function hideCutPosition(): void {
    root.classList.remove('lectern-is-tight');
    const isCut = place.scrollWidth > place.clientWidth || place.offsetHeight > tools.clientHeight;
    root.classList.toggle('lectern-is-tight', isCompact === true && isCut);
  }

  const observer = new ResizeObserver(measure);
  observer.observe(root);
  observer.observe(steps);
  measure();
  return {
    header,
    tools,
    bar,
    setPosition(text) {
      position.textContent = text;
      hideCutPosition();
    },
    back,
    next,
    setNext(text) {
      steps.hidden = text === undefined;
      label.textContent = text ?? '';
    },
    destroy: () => observer.disconnect(),
  };
}
