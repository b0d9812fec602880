import { element } from '../dom.ts';
import { noticeWordsFor } from './notice-words.ts';
import type { NoticeWords } from './notice-words.ts';

/** A sentence that a learner may be told. */
export type NoticeText = Exclude<keyof NoticeWords, 'continueHere' | 'reload'>;

/** What can be done at the press of a button. */
export interface NoticeAction {
  label: 'continueHere' | 'reload';
  act(this: void): void;
}

/** One line above the lesson, which is there only when there is something to say. */
export interface NoticeBar {
  root: HTMLElement;
  /** Says it, in place of what was said before. What is said already is not said again. */
  show(this: void, texts: readonly NoticeText[], action?: NoticeAction): void;
}

/** @param language of the lesson: a learner reads it */
export function noticeBar(language: string): NoticeBar {
  const words = noticeWordsFor(language);
  // Both are there from the beginning: what appears together with its text is not announced.
  const status = element('div', { role: 'status' });
  const alert = element('div', { role: 'alert' });
  const root = element('div', { class: 'lectern-embed-notices' }, status, alert);
  let shown = '';

  return {
    root,
    show(texts, action) {
      const text = texts.map((name) => words[name]).join(' ');
      if (text === shown) return;
      shown = text;
      status.replaceChildren();
      alert.replaceChildren();
      if (text === '') return;
      const line = element('div', { class: 'lectern-embed-notice' }, element('p', {}, text));
      (action ? alert : status).append(line);
      if (action === undefined) return;
      const button = element('button', { type: 'button' }, words[action.label]);
      button.addEventListener('click', action.act);
      line.append(button);
      // The lesson cannot be used until it is pressed; who is elsewhere on the page around it is left there.
      if (document.hasFocus()) button.focus();
    },
  };
}
