import { element, icon } from './dom.ts';
import { placeInView } from './visible-area.ts';
import { message } from '../shared/i18n/message.ts';

/** The least ratio of a picture's own width to its width on the page that makes zooming worthwhile. */
const minZoom = 1.1;

/** The usual width of blocks in wide windows, in CSS pixels. */
const widestPicture = 640;

/** Opens a picture at full size. */
export interface Zoom {
  /** The button and the dialog, which belong after the picture. */
  parts: HTMLElement[];
  /** Call it when the picture is removed. */
  stop: () => void;
}

/**
 * Lets learners open a picture at full size, in a dialog that scrolls if it is larger than the window. Escape, the
 * button, and a click anywhere close it, and the focus returns. There is no button while the picture is shown at its
 * full size.
 */
export function zoomable(picture: HTMLImageElement, language: string): Zoom {
  const { alt } = picture;
  const name = alt === '' ? message(language, 'widget.zoom') : message(language, 'widget.zoomNamed', { alt });
  const open = element(
    'button',
    {
      class: 'lectern-zoom-open',
      type: 'button',
      'aria-haspopup': 'dialog',
      // The title names the button. With an aria-label, too, screen readers would read the name twice.
      title: name,
      // A guess until it is measured, so that the blocks below do not move then.
      hidden: !(Number(picture.getAttribute('width')) > Math.min(widestPicture * minZoom, innerWidth)),
    },
    icon('zoom'),
  );
  const close = element(
    'button',
    { class: 'lectern-zoom-close', type: 'button', title: message(language, 'widget.close') },
    icon('wrong'),
  );
  const dialog = element('dialog', {
    class: 'lectern-zoom',
    'aria-label': message(language, 'widget.zoomed'),
  });

  function measure(): void {
    if (dialog.open) return;
    // Until the picture has loaded, its natural width is 0, unless the lesson says it.
    const width = picture.naturalWidth || Number(picture.getAttribute('width'));
    open.hidden = width <= picture.clientWidth * minZoom;
    picture.classList.toggle('lectern-is-zoomable', !open.hidden);
  }

  function enlarge(): void {
    if (open.hidden) return;
    // When the dialog closes, the focus returns here, even after a click on the picture itself.
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
