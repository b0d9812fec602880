import { message } from '../../shared/i18n/message.ts';
import { isCoreIn, scoringOf } from '../../shared/lessons/core-widgets.ts';
import type { Credits } from '../credits.ts';
import { element } from '../dom.ts';
import { coverView } from './cover-view.ts';
import type { PlayedLesson, PlayedStep, StepContent } from './read-lesson.ts';
import { stepTitle } from './step-list.ts';
import { showStep } from './step-view.ts';
import type { StepHost, StepView } from './step-view.ts';

const closedPanels = '.lectern-step-body details:not([open])';

/** Opens the closed panels in steps while the page is printed. Returns a function that ends this. */
export function openWhilePrinting(root: HTMLElement): () => void {
  let opened: { panel: HTMLDetailsElement; group: string | null }[] = [];

  function open(): void {
    opened = [...root.querySelectorAll<HTMLDetailsElement>(closedPanels)].map((panel) => {
      const group = panel.getAttribute('name');
      // Otherwise it would close the others of its group.
      panel.removeAttribute('name');
      panel.open = true;
      return { panel, group };
    });
  }

  function close(): void {
    for (const { panel, group } of opened.splice(0)) {
      panel.open = false;
      if (group !== null) panel.setAttribute('name', group);
    }
  }

  addEventListener('beforeprint', open);
  addEventListener('afterprint', close);
  return () => {
    removeEventListener('beforeprint', open);
    removeEventListener('afterprint', close);
  };
}

/** The time in which pictures and widgets may load; then the lesson is printed without those that are missing. */
const contentTimeoutMs = 20_000;
/** The time in which the browser must begin to print. Frames whose sandbox forbids dialogs never do. */
const startTimeoutMs = 2000;

/** What is printed, and where. */
export interface Printed {
  /** The player's element. */
  root: HTMLElement;
  lesson: PlayedLesson;
  stepHost: StepHost;
  credits: Credits;
  /** Whether the menu also prints the right answers. */
  canPrintAnswers: boolean;
}

/** Makes the buttons that print the whole lesson. */
export function printMenu(printed: Printed): HTMLElement {
  const { language } = printed.stepHost;
  const status = element('p', { class: 'lectern-outline-found', role: 'status' });
  let isPrinting = false;

  async function start(withAnswers: boolean): Promise<void> {
    if (isPrinting) return;
    isPrinting = true;
    status.textContent = message(language, 'lesson.printPreparing');
    const isDone = await printLesson(printed, withAnswers).catch(() => false);
    status.textContent = isDone ? '' : message(language, 'lesson.printFailed');
    isPrinting = false;
  }

  function button(key: 'lesson.print' | 'lesson.printAnswers', withAnswers: boolean): HTMLButtonElement {
    const made = element('button', { class: 'lectern-print', type: 'button' }, message(language, key));
    made.addEventListener('click', () => void start(withAnswers));
    return made;
  }

  const menu = element('div', { class: 'lectern-prints' }, button('lesson.print', false));
  if (printed.canPrintAnswers) menu.append(button('lesson.printAnswers', true));
  menu.append(status);
  return menu;
}

/**
 * Prints the whole lesson, step after step, in place of the page. Questions are unanswered or show the right answer.
 *
 * @returns false if the browser does not print
 * @throws if a step does not load
 */
async function printLesson(printed: Printed, withAnswers: boolean): Promise<boolean> {
  const { root } = printed;
  const contents = await loadContents(printed.lesson);
  const paper = element('div', { class: 'lectern-paper', 'aria-hidden': 'true' });
  paper.classList.toggle('lectern-has-answers', withAnswers);
  // Appended before it is filled, for widgets that measure their size.
  root.append(paper);
  const views = fillPaper(paper, printed, contents, withAnswers);
  let around: Element[] = [];
  try {
    await contentLoaded(paper);
    shrinkWide(paper);
    around = surroundings(paper);
    for (const other of around) other.classList.add('lectern-is-off-paper');
    paper.classList.add('lectern-is-printed');
    return await printPage();
  } finally {
    for (const other of around) other.classList.remove('lectern-is-off-paper');
    for (const view of views) view.destroy();
    paper.remove();
  }
}

/** Loads the steps one after the other. Those of a book are not all in memory otherwise. */
async function loadContents(lesson: PlayedLesson): Promise<Map<PlayedStep, StepContent>> {
  const contents = new Map<PlayedStep, StepContent>();
  for (const step of lesson.steps) {
    await lesson.load(step.index);
    const content = lesson.contentOf(step);
    if (content !== undefined) contents.set(step, content);
  }
  return contents;
}

function fillPaper(
  paper: HTMLElement,
  { lesson, stepHost, credits }: Printed,
  contents: ReadonlyMap<PlayedStep, StepContent>,
  withAnswers: boolean,
): StepView[] {
  const { language } = stepHost;
  const host = paperHost(stepHost, withAnswers);
  paper.append(element('h1', { class: 'lectern-step-title' }, lesson.title));
  if (lesson.cover) paper.append(coverView(lesson.cover, lesson.steps.length, stepHost));
  const views = lesson.sections.flatMap(({ title, steps }) => {
    if (title && steps.length > 0) paper.append(element('h2', { class: 'lectern-paper-section' }, title));
    return steps.flatMap((step) => {
      const content = contents.get(step);
      if (content === undefined) return [];
      const name = stepTitle(step, lesson, language);
      const section = element('section', { class: 'lectern-step' });
      if (name !== title) section.append(element('h2', { class: 'lectern-paper-step' }, name));
      paper.append(section);
      return showStep(section, step, content, host);
    });
  });
  for (const list of credits.list(language)) {
    list.setAttribute('open', '');
    paper.append(list);
  }
  return views;
}

/** Returns the host of steps that ignores what widgets report. */
function paperHost(stepHost: StepHost, withAnswers: boolean): StepHost {
  const ignore = () => undefined;
  return {
    ...stepHost,
    saved(_step, { type, props }) {
      const isKnown = withAnswers && isCoreIn(stepHost.ownTypes, type);
      return { state: isKnown ? scoringOf(type)?.rightAnswer(props) : undefined, tries: 0 };
    },
    answer: ignore,
    // Drafts need not be kept.
    draft: () => true,
    setVariable: ignore,
    report: ignore,
  };
}

/** Returns everything on the page beside an element, which the print styles hide meanwhile. */
function surroundings(kept: HTMLElement): Element[] {
  const around: Element[] = [];
  for (let inner: Element = kept; inner.parentElement; inner = inner.parentElement) {
    around.push(...[...inner.parentElement.children].filter((other) => other !== inner));
  }
  return around;
}

/** Waits until widgets and pictures have loaded or failed. */
async function contentLoaded(paper: HTMLElement): Promise<void> {
  const deadline = Date.now() + contentTimeoutMs;
  const isLoading = () => {
    const pictures = [...paper.querySelectorAll('img')];
    // Out of view, lazy ones would never load.
    for (const picture of pictures) picture.loading = 'eager';
    return paper.querySelector('[aria-busy=true]') !== null || pictures.some(({ complete }) => !complete);
  };
  while (isLoading() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  await document.fonts.ready;
}

/** Makes tables and formulas smaller that are wider than the paper, which does not scroll. */
function shrinkWide(paper: HTMLElement): void {
  for (const wide of paper.querySelectorAll<HTMLElement>('.lectern-scroll, .lectern-mathml')) {
    const { clientWidth, scrollWidth } = wide;
    if (clientWidth > 0 && scrollWidth > clientWidth + 1)
      wide.style.setProperty('zoom', String(clientWidth / scrollWidth));
  }
}

/** Opens the browser's dialog. Resolves when it is closed, to false where the page may not print. */
function printPage(): Promise<boolean> {
  return new Promise((resolve) => {
    // Phones begin to print after `print` has returned, other browsers at once.
    const timer = setTimeout(() => resolve(false), startTimeoutMs);
    addEventListener('beforeprint', () => clearTimeout(timer), { once: true });
    addEventListener('afterprint', () => resolve(true), { once: true });
    print();
  });
}
