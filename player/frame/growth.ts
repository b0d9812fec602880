/**
 * Slows down growth that answers growth: a widget that copies the frame's height with a delay makes the lesson higher
 * after each frame that was made higher for it, without end.
 */
export interface Growth {
  /** The height that was asked for last. */
  height: number;
  /** By how much it was more than the one before. */
  step: number;
  /** How often in succession it grew by as much as the time before, soon after it. */
  echoes: number;
  /** Unix time in milliseconds. */
  at: number;
}

/** Echoes that are followed at once: content unfolds, pictures arrive. */
const freeEchoes = 4;
const firstPause = 200;
/** Echoes after which the height waits for the learner to do something. */
const mostEchoes = 8;
/** Milliseconds within which growth answers the growth before; a pause comes on top. */
const echoTime = 1000;
/** Steps up to this one may be a probe of the frame's own, between two others; the next one is smaller by as much. */
const smallStep = 10;

/** The growth after another height was asked for. */
export function grown(before: Growth | undefined, height: number, now: number): Growth {
  if (before === undefined) return { height, step: 0, echoes: 0, at: now };
  const step = height - before.height;
  if (step > 0 && step <= smallStep && before.step > smallStep) return { ...before, height, at: now };
  const isEcho = step > 0 && step >= before.step - smallStep && now - before.at <= echoTime + pauseOf(before);
  return { height, step, echoes: isEcho ? before.echoes + 1 : 0, at: now };
}

/** Milliseconds before more height is asked for; infinity until the learner does something. */
export function pauseOf({ echoes }: Growth): number {
  if (echoes >= mostEchoes) return Infinity;
  return echoes < freeEchoes ? 0 : firstPause * 2 ** (echoes - freeEchoes);
}
