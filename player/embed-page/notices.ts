import { element } from '../dom.ts';
import type { NoticeName } from './notice-for.ts';
import { message } from '../../shared/i18n/message.ts';
import { wayBackLink } from './way-back.ts';

/** What can be done at the press of a button. */
export interface NoticeAction {
  label: 'continueHere' | 'reload';
  act(this: void): void;
}

/** What is said where the lesson cannot go on: a link to the course helps there. */
const ends: readonly NoticeName[] = ['expired', 'gone', 'stuck'];

/** One line above the lesson, which is there only when there is something to say. */
export interface NoticeBar {
  root: HTMLElement;
  /** Says it, in place of what was said before. What is said already is not said again. */
  show(this: void, texts: readonly NoticeName[], action?: NoticeAction): void;
}

/**
 * @param language of the page
 * @param returnUrl leads to the course; null where the way is unknown
 */
export function noticeBar(language: string, returnUrl: string | null): NoticeBar {
  // Both are there from the beginning: what appears together with its text is not announced.
  const status = element('div', { role: 'status' });
  const alert = element('div', { role: 'alert' });
  const root = element('div', { class: 'lectern-embed-notices' }, status, alert);
  let shown = '';
  const view = watchView(root);

  return {
    root,
    show(texts, action) {
      const text = texts.map((name) => message(language, `notice.${name}`)).join(' ');
      if (text === shown) return;
      shown = text;
      status.replaceChildren();
      alert.replaceChildren();
      view.disconnect();
      if (text === '') return;
      view.observe(document.body);
      const line = element('div', { class: 'lectern-embed-notice' }, element('p', {}, text));
      (action ? alert : status).append(line);
      const isEnd = texts.some((name) => ends.includes(name));
      if (isEnd && returnUrl !== null) line.append(wayBackLink(returnUrl, message(language, 'notice.back')));
      if (action === undefined) return;
      const button = element('button', { type: 'button' }, message(language, `notice.${action.label}`));
      button.addEventListener('click', action.act);
      line.append(button);
      // The lesson cannot be used until it is pressed; who is elsewhere on the page around it is left there.
      if (document.hasFocus()) button.focus({ preventScroll: true });
    },
  };
}

/**
 * Keeps the line at the top of what the learner sees while the body is observed. A frame that is as high as its
 * content begins far above that, and cannot be asked where it is, nor is it told of scrolling; but browsers tell it
 * which part of it is on the screen, once each time that they are asked.
 */
function watchView(root: HTMLElement): IntersectionObserver {
  return new IntersectionObserver(([entry], watch) => {
    root.style.insetBlockStart = `${Math.max(0, entry?.intersectionRect.top ?? 0)}px`;
    watch.unobserve(document.body);
    watch.observe(document.body);
  });
}
