/**
 * Computes the frame's height: the lesson's, without growth that the frame's own height has caused. Otherwise a widget
 * of `100vh` would make the frame higher, and so itself, without end. Heights are in CSS pixels.
 */
export interface FrameHeight {
  /** The height that the frame should get. */
  wanted: number;
  /** The lesson's height at the last measurement. */
  content: number;
  /** The frame's height at the last measurement. */
  viewport: number;
  /** The part of the lesson's height that the frame's height has caused. */
  caused: number;
  /** How many pixels the lesson grows per pixel of the frame; 0 if it does not. */
  slope: number;
  /**
   * The lesson grew together with the frame: because of it, or by chance, as when a picture loads. The height stays
   * until a {@link probed} frame decides.
   */
  held: { slope: number; growth: number } | undefined;
}

/** The number of pixels by which a probe makes the frame higher, to see whether the lesson grows too. */
const probe = 8;
/** Heights are rounded. */
const tolerance = 1;

/** Applies a measurement. @param before undefined at the first one */
export function measured(before: FrameHeight | undefined, content: number, viewport: number): FrameHeight {
  if (before === undefined) {
    return { wanted: content, content, viewport, caused: 0, slope: 0, held: undefined };
  }
  const grown = content - before.content;
  const framed = viewport - before.viewport;
  if (grown === 0 && framed === 0) return before;
  const { caused, held } = before;
  const next = { ...before, content, viewport, held: undefined };
  const isCausedBy = (slope: number) => slope !== 0 && Math.abs(grown - slope * framed) <= tolerance;
  if (framed === 0) return { ...next, wanted: content - caused };
  if (Math.abs(grown) < tolerance) return { ...next, wanted: content, caused: 0, slope: 0 };
  if (held && isCausedBy(held.slope)) {
    return withCaused({ ...next, slope: held.slope }, caused + held.growth + grown);
  }
  if (!held && isCausedBy(before.slope)) return withCaused(next, caused + grown);
  return { ...next, slope: 0, held: { slope: grown / framed, growth: (held?.growth ?? 0) + grown } };
}

/** Requests a slightly higher frame: the lesson's response shows why it grew before. */
export function probed(before: FrameHeight): FrameHeight {
  return { ...before, wanted: before.viewport + probe };
}

function withCaused(height: FrameHeight, caused: number): FrameHeight {
  const kept = Math.max(0, caused);
  return { ...height, caused: kept, wanted: height.content - kept };
}
