import { element } from '../dom.ts';

/** A link to the course that the learner came from. It leaves all frames, for it leads to the platform's own page. */
export function wayBackLink(href: string, label: string): HTMLAnchorElement {
  const link = element('a', { href, target: '_top' }, label);
  breakOut(link);
  return link;
}

/** A platform may keep what it shows in a sandbox from replacing its page: the link then opens beside it. */
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
