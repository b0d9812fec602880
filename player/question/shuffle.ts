/**
 * Returns the elements in an order that looks random, but is the same whenever the learner sees the question.
 *
 * @param seed such as the id of the question
 */
export function shuffled<Element>(elements: readonly Element[], seed: string): Element[] {
  let state = 0x811c9dc5;
  // FNV-1a: similar ids give different orders.
  for (const character of seed) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const drawn = elements.map((element) => {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return { element, draw: state >>> 0 };
  });
  return drawn.sort((a, b) => a.draw - b.draw).map(({ element }) => element);
}

/**
 * Shuffles elements as {@link shuffled} does, and never returns them in their own order if there is another one.
 *
 * @param textOf returns an element's text; elements with the same text are interchangeable
 */
export function reordered<Element>(
  elements: readonly Element[],
  seed: string,
  textOf: (element: Element) => string,
): Element[] {
  const result = shuffled(elements, seed);
  const texts = elements.map(textOf);
  const isSame = result.every((element, index) => textOf(element) === texts[index]);
  return isSame ? [...result.slice(1), ...result.slice(0, 1)] : result;
}
