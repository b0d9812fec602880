type Attributes = Record<string, string | boolean | undefined>;

/**
 * Makes an element. A `true` attribute is set to '', a `false` or undefined one is not set. Strings among the children
 * become text, never markup.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children);
  return node;
}

/** Returns an id for labels and groups, unique on the page even if a module is loaded twice. */
export function uniqueId(): string {
  return `lectern-${Math.random().toString(36).slice(2, 12)}`;
}

const svgNamespace = 'http://www.w3.org/2000/svg';

/** SVG paths in a square of 24 units. */
const iconPaths = {
  right: 'M5 12.5l4.5 4.5L19 7.5',
  wrong: 'M6.5 6.5l11 11m0-11l-11 11',
  partly: 'M5.5 12h13',
  open: 'M12 6a6 6 0 0 0 0 12a6 6 0 0 0 0-12',
  contents: 'M4 6h16M4 12h16M4 18h10',
  unfold: 'M9 5l7 7-7 7',
  forward: 'M5 12h14M13 6l6 6-6 6',
  back: 'M19 12H5M11 6l-6 6 6 6',
  note: 'M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M12 11v5M12 7.5v.5',
  tip: 'M9 18h6M10 21h4M12 3a6 6 0 0 0-3.5 10.9c.5.5.5 1 .5 1.6h6c0-.6 0-1.1.5-1.6A6 6 0 0 0 12 3',
  warning: 'M12 4L2.5 20h19L12 4M12 10v4.5M12 17v.5',
  example: 'M5 4h14v16H5zM9 9h6M9 13h6',
  present: 'M3 4.5h18M5 4.5v10h14v-10M12 14.5v3.5M8.5 21l3.5-3l3.5 3',
  zoom: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
};

/** Makes a decorative icon in the text color. Screen readers skip it, so put a text beside it. */
export function icon(name: keyof typeof iconPaths): SVGSVGElement {
  const drawing = document.createElementNS(svgNamespace, 'svg');
  drawing.setAttribute('class', 'lectern-icon');
  drawing.setAttribute('viewBox', '0 0 24 24');
  drawing.setAttribute('aria-hidden', 'true');
  const lines = document.createElementNS(svgNamespace, 'path');
  lines.setAttribute('d', iconPaths[name]);
  drawing.append(lines);
  return drawing;
}

/**
 * Makes an element that scrolls sideways a tab stop while it has to, so that the keyboard can scroll it. Marks the edges
 * where it is cut, because phones show no scroll bar.
 *
 * @param name for screen readers while it is a tab stop, if nothing else names it
 */
export function hintWhenWide(scroller: Element, name?: string): void {
  const stop = { tabindex: '0', ...(name !== undefined && { role: 'group', 'aria-label': name }) };
  const measure = () => {
    const hidden = scroller.scrollWidth - scroller.clientWidth;
    // Both are rounded.
    const isWide = hidden > 1;
    scroller.classList.toggle('lectern-is-wide', isWide);
    for (const [attribute, value] of Object.entries(stop)) {
      if (isWide) scroller.setAttribute(attribute, value);
      else scroller.removeAttribute(attribute);
    }
    // From right to left, the position counts from 0 down.
    const isRtl = getComputedStyle(scroller).direction === 'rtl';
    const left = isRtl ? hidden + scroller.scrollLeft : scroller.scrollLeft;
    scroller.classList.toggle('lectern-is-cut-left', left > 1);
    scroller.classList.toggle('lectern-is-cut-right', hidden - left > 1);
  };
  new ResizeObserver(measure).observe(scroller);
  scroller.addEventListener('scroll', measure, { passive: true });
}

/** Two taps within this time are a double tap. Phones wait 300 to 350 ms for the second one. */
const doubleTapMs = 400;

/**
 * Calls a function when a button is pressed. A double click or double tap counts once: its second press would hit what
 * the first one has just changed.
 */
export function onPress(button: HTMLButtonElement, act: () => void): void {
  let last = -Infinity;
  button.addEventListener('click', ({ pointerType, detail, timeStamp }) => {
    // `detail` counts the clicks of a mouse, but in some browsers not the taps. It is 0 for keys, which always count.
    const isRepeat =
      pointerType === 'mouse' ? detail % 2 === 0 : detail > 0 && timeStamp - last < doubleTapMs;
    if (isRepeat) return;
    last = timeStamp;
    act();
  });
}

/** Checks whether a key press belongs to an input method, which is composing a character. */
export function isComposing(event: KeyboardEvent): boolean {
  // WebKit ends the composition before the key press that confirms it.
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else says it there
  return event.isComposing || event.keyCode === 229;
}

/** Calls a function in place of the browser's own print command, at the keys for it. */
export function onPrintKeys(act: () => void): void {
  addEventListener('keydown', (event) => {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (key.toLowerCase() !== 'p' || altKey || shiftKey || ctrlKey === metaKey) return;
    event.preventDefault();
    act();
  });
}

/** Scrolls until an element is in view, and above the bar. Smoothly, unless the learner prefers reduced motion. */
export function reveal(target: Element): void {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  target.scrollIntoView({ block: 'nearest', behavior: isCalm ? 'instant' : 'smooth' });
}
