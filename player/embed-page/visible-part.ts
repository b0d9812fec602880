import type { VisibleLesson } from './frame-link.ts';
import type { Viewport } from './host-messages.ts';
import { windowHeight } from '../visible-area.ts';

/** The part of the lesson that is on the screen. */
export interface VisiblePart {
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
export function visiblePart(onChange: () => void): VisiblePart {
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
