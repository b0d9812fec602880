import { message } from '../../shared/i18n/message.ts';
import { element } from '../dom.ts';
import type { LessonBoot } from './boot.ts';
import { wayBackLink } from './way-back.ts';

/** What a page says around the lesson because of how it was opened: by a platform, or as a preview. */
export interface LaunchLines {
  /** Above the lesson: that nothing is recorded. Empty where it is. */
  above: readonly HTMLElement[];
  /** Below it: the way back to the course. Empty where nobody knows it. */
  below: readonly HTMLElement[];
  /** The way back is shown from the end of the lesson on. */
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
            wayBackLink(returnUrl, message(language, 'notice.back')),
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
