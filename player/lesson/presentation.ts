import { message } from '../../shared/i18n/message.ts';
import { element, icon, isComposing } from '../dom.ts';
import { activeElement } from './focus.ts';

/** The size of 1rem for readers in the last row of a classroom: at least 1/27 of the screen's height. */
const rootFontSize = 'max(22px, min(2.1vw, 3.8vh))';

/** Elements that use the keys themselves. */
const keyUsers = 'input, select, textarea, audio, video, dialog, [role=tab], [contenteditable]';

/** The way to show the lesson to a class. */
export interface Presentation {
  /** Starts and ends it. */
  button: HTMLButtonElement;
  /** Ends it. */
  destroy(): void;
}

/**
 * Makes the button for teachers who show the lesson on a wall: large type, full screen, no outline. Arrow keys and
 * presenters' remote controls, which send Page Up and Page Down, go through the steps.
 *
 * @param root the player's element
 * @param moves what the keys do; `focus` focuses the step
 */
export function presentation(
  root: HTMLElement,
  language: string,
  moves: Record<'next' | 'back' | 'focus', () => void>,
): Presentation {
  const label = element('span');
  const button = element(
    'button',
    { class: 'lectern-contents-button lectern-present-button', type: 'button' },
    icon('present'),
    label,
  );
  /** Puts the page back as it was; undefined while nothing is presented. */
  let restore: (() => void) | undefined;

  function showState(): void {
    label.textContent = message(language, restore ? 'lesson.presentEnd' : 'lesson.present');
    root.classList.toggle('lectern-is-presented', restore !== undefined);
  }

  function start(): void {
    const page = document.documentElement;
    const around = root.parentElement;
    const before = { fontSize: page.style.fontSize, blockSize: around?.style.minBlockSize ?? '' };
    restore = () => {
      page.style.fontSize = before.fontSize;
      around?.style.setProperty('min-block-size', before.blockSize);
    };
    // Keeps the place of the lesson on the page behind.
    around?.style.setProperty('min-block-size', `${around.offsetHeight}px`);
    page.style.fontSize = rootFontSize;
    showState();
    document.addEventListener('keydown', onKey);
    document.addEventListener('fullscreenchange', onFullScreen);
    // Frames may lack the permission, and phones the function. The type is large all the same.
    const request = (root as Partial<HTMLElement>).requestFullscreen?.call(root);
    request?.catch(() => undefined);
    moves.focus();
  }

  function end(): void {
    if (restore === undefined) return;
    restore();
    restore = undefined;
    showState();
    document.removeEventListener('keydown', onKey);
    document.removeEventListener('fullscreenchange', onFullScreen);
    if (isFull(root)) document.exitFullscreen().catch(() => undefined);
  }

  let wasFull = false;
  /** The browser ends full screen, too: at Escape, and when the learner switches windows. */
  function onFullScreen(): void {
    if (wasFull && !isFull(root)) end();
    wasFull = isFull(root);
  }

  function onKey(event: KeyboardEvent): void {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (event.defaultPrevented || altKey || ctrlKey || metaKey || shiftKey || isComposing(event)) return;
    if (activeElement(root)?.closest(keyUsers)) return;
    // In full screen, the browser takes this key.
    if (key === 'Escape') return end();
    const move = moveOf(key, root);
    if (move === undefined) return;
    event.preventDefault();
    moves[move]();
  }

  button.addEventListener('click', () => (restore ? end() : start()));
  showState();
  return { button, destroy: end };
}

/** Returns whether the player, or a video in it, fills the screen. Browsers without unprefixed full screen never do. */
function isFull(root: HTMLElement): boolean {
  const { fullscreenElement = null } = root.getRootNode() as Partial<DocumentOrShadowRoot>;
  return root.contains(fullscreenElement);
}

/** Returns the step to go to for a key: Page Up and Page Down first scroll through a long step. */
function moveOf(key: string, root: HTMLElement): 'next' | 'back' | undefined {
  const isRtl = getComputedStyle(root).direction === 'rtl';
  if (key === 'ArrowRight') return isRtl ? 'back' : 'next';
  if (key === 'ArrowLeft') return isRtl ? 'next' : 'back';
  const { scrollTop, clientHeight, scrollHeight } = isFull(root) ? root : document.documentElement;
  if (key === 'PageDown' && scrollTop + clientHeight >= scrollHeight - 2) return 'next';
  return key === 'PageUp' && scrollTop <= 2 ? 'back' : undefined;
}
