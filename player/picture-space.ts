import { pictureIdOf } from '../shared/lessons/picture-size.ts';
import type { PictureSize } from '../shared/lessons/picture-size.ts';

/** Returns the size of the picture that a reference names. */
export function sizeIn(
  sizes: Readonly<Record<string, PictureSize>> = {},
  src: string,
): PictureSize | undefined {
  const id = pictureIdOf(src);
  return Object.hasOwn(sizes, id) ? sizes[id] : undefined;
}

/** Reserves the space of a picture until it loads. One of unknown size gets the usual ratio. */
export function reserveSpace(picture: HTMLImageElement, size: PictureSize | undefined): void {
  if (!size) return reserveRatio(picture, 'load');
  if (size.isFluid) {
    picture.style.inlineSize = '100%';
    picture.style.aspectRatio = `auto ${size.width} / ${size.height}`;
  } else {
    picture.width = size.width;
    picture.height = size.height;
  }
}

/** Reserves the space of a picture in a text that does not say its size, if it is known or only blocks are beside it. */
export function reserveInText(picture: HTMLImageElement, size: PictureSize | undefined): void {
  const given = ['width', 'height', 'sizes', 'srcset'].filter((name) => picture.hasAttribute(name));
  if (picture.style.aspectRatio !== '' || (given.includes('width') && given.includes('height'))) return;
  if (given.length === 0) {
    if (size || isBlock(picture)) reserveSpace(picture, size);
    return;
  }
  if (!size) return;
  // As import does for pictures in the package.
  const [side = ''] = given;
  const pixels = Number(picture.getAttribute(side));
  const { width, height } = size;
  if (given.length > 1 || !(pixels > 0) || size.isFluid)
    picture.style.aspectRatio = `auto ${width} / ${height}`;
  else if (side === 'width') picture.height = Math.round((pixels * height) / width);
  else picture.width = Math.round((pixels * width) / height);
}

/** Returns whether a picture is a block: beside it are only blocks. */
function isBlock(picture: HTMLImageElement): boolean {
  const parent = picture.parentNode;
  if (!(parent instanceof DocumentFragment || /^(?:p|figure|div)$/.test((parent as Element).localName)))
    return false;
  return [...(parent as ParentNode & Node).childNodes].every((node) =>
    node instanceof Element
      ? node === picture || blockNames.test(node.localName)
      : node.textContent?.trim() === '',
  );
}

const blockNames = /^(?:p|[uod]l|table|div|fig(?:ure|caption)|h\d|blockquote|pre|hr)$/;

/**
 * Reserves space of the usual ratio for a picture or video, which shows itself within. Its own ratio counts as soon as that
 * moves nothing in view.
 *
 * @param event says that its own ratio is known
 */
export function reserveRatio(medium: HTMLElement, event: 'load' | 'loadedmetadata'): void {
  medium.classList.add('lectern-is-unsized');
  medium.addEventListener(
    event,
    () => {
      const observer = new IntersectionObserver(([entry]) => {
        observer.disconnect();
        if (entry && !entry.isIntersecting) medium.classList.remove('lectern-is-unsized');
      });
      observer.observe(medium);
    },
    { once: true },
  );
}
