import { message } from '../../shared/i18n/message.ts';
import { element } from '../dom.ts';
import type { LessonBoot } from './boot.ts';

/** Lines around a lesson that a platform has opened, or that is a preview. */
export interface LaunchLines {
  /** Above the lesson: that Lectern records nothing. Empty if it records. */
  above: readonly HTMLElement[];
  /** Below it: the link to the course. Empty if its URL is unknown. */
  below: readonly HTMLElement[];
  /** Shows the link once the lesson is completed. */
  update(this: void, isCompleted: boolean): void;
}

/** @param language of the page */
export function launchLines(
  { untracked, launch }: Pick<LessonBoot, 'untracked' | 'launch'>,
  language: string,
): LaunchLines {
  const { returnUrl = null } = launch ?? {};
  const above =
    untracked === null
      ? []
      : [element('aside', { class: 'lectern-embed-remark' }, message(language, `notice.${untracked}`))];
  const below =
    returnUrl === null
      ? []
      : [
          element(
            'nav',
            { class: 'lectern-embed-back', hidden: true },
            courseLink(returnUrl, message(language, 'notice.back')),
          ),
        ];
  return {
    above,
    below,
    update(isCompleted) {
      for (const line of below) line.hidden = !isCompleted;
    },
  };
}

/** Returns a link to the learner's course. It leaves all frames, because it leads to the platform's page. */
export function courseLink(href: string, label: string): HTMLAnchorElement {
  const link = element('a', { href, target: '_top' }, label);
  breakOut(link);
  return link;
}

/** Makes a link open in a new tab if the platform's sandbox does not let it replace the platform's page. */
export function breakOut(link: HTMLAnchorElement): void {
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    try {
      (top ?? window).location.href = link.href;
    } catch {
      open(link.href, '_blank', 'noopener');
    }
  });
}
