import { playedProp } from '../../shared/lessons/block-props.ts';
import { stepBlocks, withTex } from '../../shared/lessons/blocks.ts';
import { splitAtGaps } from '../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { message } from '../../shared/i18n/message.ts';
import { element } from '../dom.ts';
import { nameOf } from '../question/parts.ts';
import { text } from '../props.ts';
import { fillText } from './block-text.ts';
import type { QuestionResult } from './question-results.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import { stepTitle } from './step-list.ts';
import type { Variables } from './visibility.ts';

/** The lesson of a question, and the variables in its texts. */
export interface QuestionContext {
  lesson: PlayedLesson;
  variables: Variables;
  language: string;
}

/**
 * Makes a button that leads to a question: its text, shortened, above the title of its step. Until the step is loaded,
 * a number stands for the text; the step loads when the button comes into view.
 */
export function questionLink(
  { lesson, variables, language }: QuestionContext,
  step: PlayedStep,
  { widgetId, number }: QuestionResult,
  onClick: () => void,
): HTMLElement {
  const title = stepTitle(step, lesson, language);
  const name = element('span', {});
  const place = element('span', { class: 'lectern-link-place' }, title);
  const link = element('button', { class: 'lectern-link', type: 'button' }, name, ' ', place);
  link.addEventListener('click', onClick);

  function show(): void {
    const numbered = number === null ? '' : message(language, 'lesson.question', { number });
    const shown = shortText(questionHtml(lesson, step, widgetId), { variables, language }) || numbered;
    name.textContent = shown || title;
    place.hidden = shown === '';
  }

  show();
  if (lesson.contentOf(step) === undefined) {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      // Without the text, the number stays.
      lesson.load(step.index).then(show, () => undefined);
    });
    observer.observe(link);
  }
  return link;
}

/** Returns a question's prompt or, without one, its text with gaps, as HTML; '' while its step is not loaded. */
function questionHtml(lesson: PlayedLesson, step: PlayedStep, widgetId: string): string {
  const content = lesson.contentOf(step);
  if (content === undefined) return '';
  for (const { block } of stepBlocks(content)) {
    if (block.props.id !== widgetId) continue;
    const propOf = (name: string) => text(playedProp(block, lesson.overrides, name));
    return (
      propOf('prompt') ||
      splitAtGaps(propOf('text'))
        .map((part, index) => (index % 2 === 1 ? '___' : part))
        .join('')
    );
  }
  return '';
}

function shortText(html: string, options: { variables: Variables; language: string }): string {
  if (html === '') return '';
  const spaced = fillText(withTex(html), options, false).replaceAll(/<(?=\/?(?:br|div|li|p)\b)/gi, ' <');
  // Parsed in a separate document, which loads no pictures.
  return nameOf(new DOMParser().parseFromString(spaced, 'text/html').body);
}
