/**
 * Returns the height of the window in CSS pixels, without a phone browser's bars, so that it does not change while the
 * page scrolls.
 */
export function windowHeight(): number {
  const ruler = document.createElement('div');
  ruler.style.cssText = 'position: fixed; visibility: hidden; height: 100vh; height: 100svh';
  document.documentElement.append(ruler);
  const { offsetHeight } = ruler;
  ruler.remove();
  return offsetHeight || innerHeight;
}

/**
 * Limits a dialog that fills the viewport to the visible part of it. In an iframe as high as its content, the viewport
 * is higher than the screen, and its middle may be out of view. Browsers report the visible part to frames of other
 * origins, too.
 *
 * @param dialog an open dialog
 * @param onResize called when the dialog has another size
 */
export function placeInView(dialog: HTMLDialogElement, onResize: () => void): void {
  const observer = new IntersectionObserver((entries) => {
    observer.disconnect();
    const { intersectionRect: visible, boundingClientRect: whole } = entries[0] ?? {};
    if (!visible?.height || !whole || visible.height >= whole.height - 1) return;
    dialog.style.insetBlock = `${visible.top}px auto`;
    dialog.style.blockSize = `${visible.height}px`;
    onResize();
  });
  dialog.removeAttribute('style');
  observer.observe(dialog);
}
