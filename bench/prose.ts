/** Returns a word for a number: the same in every run, and as compressible as text. */
const word = (number: number) => ((number * 2_654_435_761) % 2 ** 32).toString(36).slice(0, 2 + (number % 6));

/** Returns a text for a seed. */
export const prose = (words: number, seed: number) =>
  Array.from({ length: words }, (_, index) => word(seed * 10_007 + index)).join(' ');
