import type { VisibleLesson } from './frame-link.ts';
import type { Viewport } from './host-messages.ts';
import { windowHeight } from '../visible-area.ts';

/** The size of the page, and the part of it that is on the screen. */
export interface PageLayout {
  /** Returns the visible part of an element; null in a separate window, which the lesson's frame fills. */
  visible(this: void, element: Element): VisibleLesson | null;
  /** Sets the part that the host page reports. */
  setViewport(this: void, reported: Omit<Viewport, 'type'>): void;
  /** Sets the height of the lesson. */
  setHeight(this: void, height: number): void;
}

/**
 * Lays out the page: the notices, and the frame with the lesson.
 *
 * @param on.resized called with the page's height
 * @param on.moved called when another part of the lesson is visible
 */
export function pageLayout(
  iframe: HTMLIFrameElement,
  notices: HTMLElement,
  on: { resized(this: void, height: number): void; moved(this: void): void },
): PageLayout {
  const part = parent === window ? null : visiblePart(show);

  function show(): void {
    if (part === null) return;
    notices.style.insetBlockStart = `${part.of(document.body).top}px`;
    on.moved();
  }

  document.documentElement.className = 'lectern-embed-root';
  document.body.className = part ? 'lectern-embed' : 'lectern-embed lectern-is-window';
  // The frame stays where it is: moved, it would load again.
  document.getElementById('lectern-page')?.replaceWith(notices);
  new ResizeObserver(([entry]) => {
    const isSized = iframe.style.blockSize !== '';
    if (!entry || !isSized) return;
    on.resized(Math.ceil(entry.contentRect.height));
    // A host page that does not follow the height now shows another part of the lesson.
    show();
  }).observe(document.getElementById('lectern-lesson') as HTMLElement);

  return {
    visible: (element) => part?.of(element) ?? null,
    setViewport: (reported) => part?.set(reported),
    setHeight(height) {
      if (part) iframe.style.blockSize = `${height}px`;
      // On paper, the whole step counts.
      else iframe.style.setProperty('--lectern-content-height', `${height}px`);
    },
  };
}

/** The part of the lesson that is on the screen. */
interface VisiblePart {
  of(this: void, frame: Element): VisibleLesson;
  /** Sets the part that the host page reports. */
  set(this: void, reported: Omit<Viewport, 'type'>): void;
}

/**
 * Watches the visible part of this page, in a frame that is as high as the lesson and gets no scroll events. The host
 * page reports it; without a report, an observer sees it, but not what covers a part of the screen.
 *
 * @param onChange called when the part has changed
 */
function visiblePart(onChange: () => void): VisiblePart {
  let height = windowHeight();
  let seen = { top: 0, bottom: innerHeight };

  function change(next: { top: number; bottom: number }): void {
    seen = next;
    onChange();
  }

  const stopWatching = watchEdges((part) => {
    // The frame is above and below the screen, so the part is as high as the window.
    if (part.top > 0 && part.bottom < innerHeight) height = part.bottom - part.top;
    change(part);
  });
  addEventListener('resize', onChange);
  // In the capture phase, because the page scrolls in its body.
  addEventListener('scroll', onChange, { capture: true, passive: true });

  return {
    of(frame) {
      const { top, bottom } = frame.getBoundingClientRect();
      return {
        // A platform may open a frame that is higher than the screen.
        height: Math.min(height || screen.availHeight, screen.availHeight),
        top: clamp(Math.max(0, seen.top) - top, bottom - top),
        below: clamp(bottom - Math.min(innerHeight, seen.bottom), bottom - top),
      };
    },
    set(reported) {
      height = reported.height;
      if (reported.part === undefined) return onChange();
      stopWatching();
      change(reported.part);
    },
  };
}

function clamp(pixels: number, max: number): number {
  return Math.round(Math.min(Math.max(pixels, 0), max));
}

/** Half the height of a probe, in CSS pixels. */
const reach = 300;
const thresholds = Array.from({ length: 201 }, (_, index) => index / 200);

/**
 * Watches the edges of the visible part, without work while nothing moves. The middle of a probe is at each edge. When
 * the page scrolls, another share of the probe is visible, which an observer reports, and the probe moves there.
 *
 * @returns a function that stops it
 */
function watchEdges(onChange: (seen: { top: number; bottom: number }) => void): () => void {
  const probes = [0, innerHeight].map((edge) => {
    const probe = document.createElement('div');
    probe.style.cssText = `position: fixed; inset-inline-start: 0; inline-size: 1px; block-size: ${2 * reach}px; visibility: hidden`;
    probe.style.insetBlockStart = `${edge - reach}px`;
    return probe;
  });
  // Observing the page itself shows the visible part, however far it has moved.
  const page = document.documentElement;
  let look: IntersectionObserver | undefined;
  let known = { top: NaN, bottom: NaN };

  function locate(): void {
    look?.disconnect();
    look = new IntersectionObserver(([entry]) => {
      look?.disconnect();
      const { top, bottom, height } = entry?.intersectionRect ?? { top: 0, bottom: 0, height: 0 };
      if (height === 0 || (top === known.top && bottom === known.bottom)) return;
      known = { top, bottom };
      for (const [index, edge] of [top, bottom].entries()) {
        const probe = probes[index];
        if (!probe) continue;
        probe.style.insetBlockStart = `${edge - reach}px`;
        // Meanwhile, the part may have moved out of the probe's reach. A new observation always reports once.
        watch.unobserve(probe);
        watch.observe(probe);
      }
      onChange(known);
    });
    look.observe(page);
  }

  const watch = new IntersectionObserver(locate, { threshold: thresholds });
  page.append(...probes);
  // The page comes into view far from the probes when a reader jumps to it from elsewhere on the host page.
  for (const target of [page, ...probes]) watch.observe(target);
  addEventListener('resize', locate);
  return () => {
    watch.disconnect();
    look?.disconnect();
    removeEventListener('resize', locate);
    for (const probe of probes) probe.remove();
  };
}
