import { element, icon } from './dom.ts';
import { placeInView } from './visible-area.ts';
import { message } from '../shared/i18n/message.ts';

/** A picture that is shown at least so much smaller than it is has more to show. */
const WORTHWHILE = 1.1;

/** A picture's way to full size. */
export interface Zoom {
  /** The button that opens it, and the dialog: they belong behind the picture. */
  parts: HTMLElement[];
  /** Call it when the picture goes. */
  stop: () => void;
}

/**
 * Lets a picture be opened at its own size, which may be more than the window holds: the dialog scrolls. Escape, the
 * button, and a click anywhere close it, and the focus goes back to where it was. While the picture is shown as
 * large as it is, there is no button.
 */
export function zoomable(picture: HTMLImageElement, language: string): Zoom {
  const { alt } = picture;
  const name = alt === '' ? message(language, 'widget.zoom') : message(language, 'widget.zoomNamed', { alt });
  const open = element(
    'button',
    {
      class: 'lectern-zoom-open',
      type: 'button',
      'aria-label': name,
      'aria-haspopup': 'dialog',
      title: name,
      hidden: true,
    },
    icon('zoom'),
  );
  const closeName = message(language, 'widget.close');
  const close = element(
    'button',
    { class: 'lectern-zoom-close', type: 'button', 'aria-label': closeName, title: closeName },
    icon('wrong'),
  );
  const dialog = element('dialog', {
    class: 'lectern-zoom',
    'aria-label': message(language, 'widget.zoomed'),
  });

  function measure(): void {
    if (dialog.open) return;
    // While it is on its way, neither has a width.
    open.hidden = picture.naturalWidth <= picture.clientWidth * WORTHWHILE;
    picture.classList.toggle('lectern-is-zoomable', !open.hidden);
  }

  function enlarge(): void {
    if (open.hidden) return;
    // The dialog gives the focus back to what had it, also when the picture itself was clicked.
    open.focus();
    const large = element('img', { class: 'lectern-zoom-picture', src: picture.src, alt: picture.alt });
    dialog.replaceChildren(close, large);
    large.addEventListener('load', center);
    dialog.showModal();
    center();
    placeInView(dialog, center);
  }

  function center(): void {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = dialog;
    const end = getComputedStyle(dialog).direction === 'rtl' ? -1 : 1;
    dialog.scrollTo((end * (scrollWidth - clientWidth)) / 2, (scrollHeight - clientHeight) / 2);
  }

  for (const opener of [open, picture]) opener.addEventListener('click', enlarge);
  dialog.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    dialog.replaceChildren();
    measure();
  });
  picture.addEventListener('load', measure);
  const sizes = new ResizeObserver(measure);
  sizes.observe(picture);
  return { parts: [open, dialog], stop: () => sizes.disconnect() };
}
