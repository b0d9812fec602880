/**
 * Writes a typed text in one way, whatever keyboard, language or input method it comes from: ASCII digits, spaces,
 * apostrophes, hyphens and slashes, no characters without a shape, such as soft hyphens and marks of direction. `1½` is
 * `1 1/2`, and `10²` is `10^2`.
 */
export function typedText(text: string): string {
  return (
    text
      // Zero-width characters, marks of direction, soft hyphens, variants of emoji.
      .replace(/[\p{Cf}\ufe0e\ufe0f]/gu, '')
      // Before NFKC, which makes 11/2 of 1½, 102 of 10², and an accent without a letter of the apostrophe in don´t.
      .replace(/[¼-¾⅐-⅟↉]/g, ' $&')
      .replace(/(\p{Nd})([⁺⁻⁰¹²³⁴-⁹])/gu, '$1^$2')
      .replace(/[‘’‛ʼʻ`´′]/g, "'")
      .normalize('NFKC')
      .replace(/\p{Nd}/gu, westernDigit)
      .replace(/[‐-―−➖]/g, '-')
      .replace(/[⁄∕]/g, '/')
      .replace(/\s+/g, ' ')
      .trim()
  );
}

/** Other digits, found so far: a text may have many. */
const westernDigits = new Map<string, string>();

/** Returns the ASCII digit of any other: Unicode's digits from 0 to 9 follow each other. */
function westernDigit(digit: string): string {
  const known = westernDigits.get(digit) ?? findWesternDigit(digit);
  westernDigits.set(digit, known);
  return known;
}

function findWesternDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}
