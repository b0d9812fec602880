import { element, icon, uniqueId } from '../dom.ts';
import { message } from '../../shared/i18n/message.ts';

/** From this width on, the outline is beside the step. */
const wideFromPixels = 1000;

/** Shows the outline: beside the step where there is space, otherwise in a drawer. */
export interface OutlinePanel {
  button: HTMLButtonElement;
  side: HTMLElement;
  drawer: HTMLDialogElement;
  /** Closes the drawer, not the outline beside the step. */
  close(): void;
  destroy(): void;
}

/**
 * @param root the player's element, whose width decides
 * @param nav the outline
 * @param below what follows it
 */
export function outlinePanel(
  root: HTMLElement,
  nav: HTMLElement,
  below: HTMLElement,
  language: string,
): OutlinePanel {
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
    const nowWide = root.clientWidth >= wideFromPixels;
    if (nowWide === isWide) return;
    isWide = nowWide;
    root.classList.toggle('lectern-is-wide', isWide);
    drawer.close();
    (isWide ? side : drawer).append(nav, below);
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
  // The target of a click beside the drawer is the dialog itself.
  drawer.addEventListener('click', ({ target }) => {
    if (target === drawer) drawer.close();
  });

  const observer = new ResizeObserver(measure);
  observer.observe(root);
  measure();
  return { button, side, drawer, close: () => drawer.close(), destroy: () => observer.disconnect() };
}
