import { element, icon, uniqueId } from '../dom.ts';
import { message } from '../../shared/i18n/message.ts';

/** From this width on, in pixels, the outline stands beside the step. */
const wideFrom = 1000;

/** The place of the outline: beside the step where there is room, else in a drawer. */
export interface OutlinePanel {
  button: HTMLButtonElement;
  side: HTMLElement;
  drawer: HTMLDialogElement;
  /** Closes the drawer; what stands beside the step stays. */
  close(): void;
  destroy(): void;
}

/**
 * @param root the player's element; its width decides
 * @param nav moved to where it is shown
 */
export function outlinePanel(root: HTMLElement, nav: HTMLElement, language: string): OutlinePanel {
  const side = element('div', { class: 'lectern-side', id: uniqueId() });
  const close = element(
    'button',
    { class: 'lectern-icon-button', type: 'button', 'aria-label': message(language, 'lesson.close') },
    icon('wrong'),
  );
  const drawerHead = element(
    'div',
    { class: 'lectern-drawer-head' },
    element('p', { class: 'lectern-drawer-title' }, message(language, 'lesson.contents')),
    close,
  );
  const drawer = element(
    'dialog',
    { class: 'lectern-drawer', 'aria-label': message(language, 'lesson.contents') },
    drawerHead,
  );
  const button = element(
    'button',
    { class: 'lectern-contents-button', type: 'button', 'aria-expanded': 'false' },
    icon('contents'),
    element('span', {}, message(language, 'lesson.contents')),
  );
  let isWide: boolean | undefined;
  let isSideOpen = true;

  function arrange(): void {
    const isOpen = isWide === true ? isSideOpen : drawer.open;
    side.hidden = !(isWide === true && isSideOpen);
    root.classList.toggle('lectern-has-side', !side.hidden);
    button.setAttribute('aria-expanded', String(isOpen));
    if (isWide === true) button.setAttribute('aria-controls', side.id);
    else button.removeAttribute('aria-controls');
    if (isWide === true) button.removeAttribute('aria-haspopup');
    else button.setAttribute('aria-haspopup', 'dialog');
  }

  function measure(): void {
    const nowWide = root.clientWidth >= wideFrom;
    if (nowWide === isWide) return;
    isWide = nowWide;
    root.classList.toggle('lectern-is-wide', isWide);
    drawer.close();
    (isWide ? side : drawer).append(nav);
    arrange();
  }

  button.addEventListener('click', () => {
    if (isWide === true) isSideOpen = !isSideOpen;
    else drawer.showModal();
    arrange();
    if (drawer.open) nav.querySelector<HTMLElement>('[aria-current]')?.focus();
  });
  close.addEventListener('click', () => drawer.close());
  drawer.addEventListener('close', arrange);
  // A click beside the drawer lands on the dialog itself.
  drawer.addEventListener('click', ({ target }) => {
    if (target === drawer) drawer.close();
  });

  const observer = new ResizeObserver(measure);
  observer.observe(root);
  measure();
  return { button, side, drawer, close: () => drawer.close(), destroy: () => observer.disconnect() };
}
