import { element } from '../dom.ts';
import type { NoticeTexts } from './boot.ts';
import type { VisibleLesson } from './frame-link.ts';
import { externalVideo } from '../../shared/lessons/external-video.ts';

/** Its page has another origin than this one, so it cannot leave the sandbox. Players of videos need their origin. */
const sandbox =
  'allow-scripts allow-same-origin allow-presentation allow-popups allow-popups-to-escape-sandbox';

/**
 * Shows external videos above the lesson. The lesson's own frame cannot contain them: its origin is opaque, and the
 * players of the hosts would inherit that.
 *
 * @param visiblePart returns null if the page is as high as the window
 */
export function videoDialog(
  texts: NoticeTexts,
  visiblePart: () => VisibleLesson | null,
  onClose: () => void,
) {
  let shown: HTMLDialogElement | undefined;

  /** Keeps the dialog in the visible part of a frame that is as high as the lesson. */
  function place(): void {
    const part = visiblePart();
    if (shown === undefined || part === null) return;
    shown.style.insetBlock = `${part.top}px auto`;
    shown.style.blockSize = `${part.height}px`;
  }

  /** @param page the URL of the video's page, from the lesson's frame: opens nothing else */
  function open(page: string): void {
    const video = externalVideo(page);
    if (video === undefined || shown !== undefined) return;
    const close = element(
      'button',
      { class: 'lectern-video-close', type: 'button' },
      texts['notice.closeVideo'],
    );
    const player = element('iframe', {
      class: 'lectern-video-frame',
      src: video.frame,
      title: video.host,
      sandbox,
      allow: 'autoplay; encrypted-media; fullscreen; picture-in-picture',
      // The hosts play a video only for a page that says where it is. The URL of this page stays secret.
      referrerpolicy: 'strict-origin-when-cross-origin',
    });
    const dialog = element('dialog', { class: 'lectern-video', 'aria-label': video.host }, close, player);
    close.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', () => {
      dialog.remove();
      shown = undefined;
      onClose();
    });
    document.body.append(dialog);
    shown = dialog;
    place();
    dialog.showModal();
  }

  return { open, place };
}
