/**
 * Slows down growth that follows growth: a widget that copies the frame's height with a delay makes the lesson higher
 * after each higher frame, without end.
 */
export interface Growth {
  /** The last requested height, in CSS pixels. */
  height: number;
  /** The difference from the height before. */
  step: number;
  /** The number of consecutive times that it soon grew by the same step again. */
  echoes: number;
  /** Unix time in milliseconds. */
  at: number;
}

/** Echoes without a pause: content unfolds, pictures load. */
const freeEchoes = 4;
const firstPauseMs = 200;
/** Echoes after which the height stays until the learner acts. */
const maxEchoes = 8;
/** The time, besides a pause, within which growth counts as an echo. */
const echoTimeMs = 1000;
/** Steps up to this height may be a probe between two other steps. The next step is then smaller by the probe. */
const smallStep = 10;

/** Records another requested height. */
export function grown(before: Growth | undefined, height: number, now: number): Growth {
  if (before === undefined) return { height, step: 0, echoes: 0, at: now };
  const step = height - before.height;
  if (step > 0 && step <= smallStep && before.step > smallStep) return { ...before, height, at: now };
  const isEcho =
    step > 0 && step >= before.step - smallStep && now - before.at <= echoTimeMs + pauseMsOf(before);
  return { height, step, echoes: isEcho ? before.echoes + 1 : 0, at: now };
}

/** Returns the milliseconds before the next growth; infinity until the learner acts. */
export function pauseMsOf({ echoes }: Growth): number {
  if (echoes >= maxEchoes) return Infinity;
  return echoes < freeEchoes ? 0 : firstPauseMs * 2 ** (echoes - freeEchoes);
}
