/**
 * How high the frame is to be: as high as the lesson. Growth that the frame's own height has caused is not followed: a
 * widget of `100vh` would make the frame higher, and so itself, without end.
 */
export interface FrameHeight {
  /** What the page around the frame is to make of it, in CSS pixels, as all heights here. */
  asked: number;
  /** The lesson's height, and the frame's, when they were measured last. */
  content: number;
  viewport: number;
  /** How much of the lesson's height the frame's height has caused. */
  caused: number;
  /** By how much a pixel of the frame makes the lesson higher; 0 where it does not. */
  slope: number;
  /**
   * The lesson became higher in the moment in which the frame did: because of it, or, as when a picture arrives, by
   * chance. Nothing is asked for until a {@link probed} frame tells.
   */
  held: { slope: number; growth: number } | undefined;
}

/** Pixels by which the frame is made higher to see whether the lesson follows. */
const probe = 8;
/** Heights are rounded on their way. */
const tolerance = 1;

/** @param before undefined at the first time */
export function measured(before: FrameHeight | undefined, content: number, viewport: number): FrameHeight {
  if (before === undefined) {
    return { asked: content, content, viewport, caused: 0, slope: 0, held: undefined };
  }
  const grown = content - before.content;
  const framed = viewport - before.viewport;
  if (grown === 0 && framed === 0) return before;
  const { caused, held } = before;
  const next = { ...before, content, viewport, held: undefined };
  const isCausedBy = (slope: number) => slope !== 0 && Math.abs(grown - slope * framed) <= tolerance;
  if (framed === 0) return { ...next, asked: content - caused };
  if (Math.abs(grown) < tolerance) return { ...next, asked: content, caused: 0, slope: 0 };
  if (held && isCausedBy(held.slope)) {
    return withCaused({ ...next, slope: held.slope }, caused + held.growth + grown);
  }
  if (!held && isCausedBy(before.slope)) return withCaused(next, caused + grown);
  return { ...next, slope: 0, held: { slope: grown / framed, growth: (held?.growth ?? 0) + grown } };
}

/** Asks for a slightly higher frame: what the lesson does then tells what has made it higher before. */
export function probed(before: FrameHeight): FrameHeight {
  return { ...before, asked: before.viewport + probe };
}

function withCaused(height: FrameHeight, caused: number): FrameHeight {
  const kept = Math.max(0, caused);
  return { ...height, caused: kept, asked: height.content - kept };
}
