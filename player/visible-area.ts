/**
 * The height of the window in CSS pixels: what is visible of it also while the browser of a phone shows its bars, so
 * that it stays the same while the page scrolls.
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
 * Keeps a dialog that fills the viewport to the part of it that the reader sees. A page in an iframe that is as high
 * as its content has a viewport higher than the screen: in its middle, there may be nobody to see anything. The
 * browser tells which part is on the screen, also to a frame of another origin.
 *
 * @param dialog open; until the browser has answered it stays as its stylesheet places it
 * @param placed called when it has another size
 */
export function placeInView(dialog: HTMLDialogElement, placed: () => void): void {
  const watch = new IntersectionObserver((entries) => {
    watch.disconnect();
    const seen = entries[0]?.intersectionRect;
    if (!seen?.height || seen.height >= innerHeight - 1) return;
    dialog.style.insetBlock = `${seen.top}px auto`;
    dialog.style.blockSize = `${seen.height}px`;
    placed();
  });
  dialog.removeAttribute('style');
  watch.observe(dialog);
}
