import { element } from '../dom.ts';
import type { NoticeTexts } from './boot.ts';
import type { NoticeName } from './choose-notices.ts';
import { courseLink } from './launch-lines.ts';

/** The button of a notice. */
export interface NoticeAction {
  label: 'reload';
  act(this: void): void;
}

/** Notices after which the lesson cannot continue, so that a link to the course helps. */
const finalNotices: readonly NoticeName[] = ['expired', 'gone', 'stuck'];

/** Notices that learners see, and that nothing announces. */
const quietNotices: readonly NoticeName[] = ['saved'];

/** A line above the lesson, which exists only while there is a notice. */
export interface NoticeBar {
  root: HTMLElement;
  /** Replaces the notices. The same ones are not announced again. */
  show(this: void, notices: readonly NoticeName[], action?: NoticeAction): void;
}

/** @param returnUrl the course; null if unknown */
export function noticeBar(texts: NoticeTexts, returnUrl: string | null): NoticeBar {
  // Both exist from the start, because screen readers do not announce a region that appears together with its text.
  const status = element('div', { role: 'status' });
  const alert = element('div', { role: 'alert' });
  const quiet = element('div');
  const root = element('div', { class: 'lectern-embed-notices' }, status, alert, quiet);
  let shown = '';

  return {
    root,
    show(notices, action) {
      const text = notices.map((name) => texts[`notice.${name}`]).join(' ');
      if (text === shown) return;
      shown = text;
      status.replaceChildren();
      alert.replaceChildren();
      quiet.replaceChildren();
      if (text === '') return;
      const isQuiet = notices.every((name) => quietNotices.includes(name));
      const tone = isQuiet ? 'lectern-embed-notice lectern-is-quiet' : 'lectern-embed-notice';
      const line = element('div', { class: tone }, element('p', {}, text));
      const region = action ? alert : isQuiet ? quiet : status;
      region.append(line);
      const isFinal = notices.some((name) => finalNotices.includes(name));
      if (isFinal && returnUrl !== null) line.append(courseLink(returnUrl, texts['notice.back']));
      if (action === undefined) return;
      const button = element('button', { type: 'button' }, texts[`notice.${action.label}`]);
      button.addEventListener('click', action.act);
      line.append(button);
      // The lesson is blocked until the learner presses it. A learner who is elsewhere on the host page keeps the focus.
      if (document.hasFocus()) button.focus({ preventScroll: true });
    },
  };
}
