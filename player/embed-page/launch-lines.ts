import { element } from '../dom.ts';
import type { LessonBoot } from './boot.ts';

/** Lines above a lesson that a platform has opened, or that is a preview. */
export interface LaunchLines {
  /** The line that says that Lectern records nothing; empty if it records. */
  above: readonly HTMLElement[];
}

export function launchLines({
  untracked,
  messages,
}: Pick<LessonBoot, 'untracked' | 'messages'>): LaunchLines {
  if (untracked === null) return { above: [] };
  const remark = element('aside', { class: 'lectern-embed-remark' }, messages[`notice.${untracked}`]);
  return { above: [remark] };
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
    leaveFor(link.href);
  });
}

/** Replaces the page around all frames or, in a platform's sandbox, opens a new tab. */
export function leaveFor(url: string): void {
  try {
    (top ?? window).location.href = url;
  } catch {
    open(url, '_blank', 'noopener');
  }
}

/** Checks that the learner has pressed something: a widget can send the same messages as the player. */
export function isPressed(): boolean {
  // Safari knows the press since 16.4, Firefox since 120.
  return (navigator as Partial<Navigator>).userActivation?.isActive ?? true;
}
