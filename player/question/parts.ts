import { element, icon } from '../dom.ts';
import { text } from '../props.ts';
import { message } from '../../shared/i18n/message.ts';

/**
 * Returns a short text for an element with an author's HTML: its text without the last period, or else the description
 * of its picture. Long texts are cut after a word.
 */
export function nameOf(content: HTMLElement): string {
  const shown = text(content.textContent.replace(/\s+/g, ' ')).replace(/[.。]$/, '');
  const name = shown || text(content.querySelector('img')?.alt);
  if (name.length <= 80) return name || '–';
  return `${name
    .slice(0, 79)
    .replace(/\s\S*$/, '')
    .replace(/[.,;:]$/, '')}…`;
}

/** Makes the mark of a part of an answer: an icon, and a text for screen readers. */
export function partMark(isRight: boolean, language: string): Node[] {
  const verdict = message(language, isRight ? 'widget.correct' : 'widget.incorrect');
  return [icon(isRight ? 'right' : 'wrong'), element('span', { class: 'lectern-hidden-text' }, verdict)];
}

/** Makes an element whose text screen readers announce when it changes. */
export function announcer(): HTMLElement {
  return element('p', { class: 'lectern-hidden-text', role: 'status' });
}
