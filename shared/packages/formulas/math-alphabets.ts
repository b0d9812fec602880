/** Where the letters of an alphabet begin in Unicode's Mathematical Alphanumeric Symbols. */
interface Alphabet {
  latin?: number;
  greek?: number;
  digits?: number;
}

/** By the values of `mathvariant` in MathML 3. */
const alphabets: Record<string, Alphabet> = {
  bold: { latin: 0x1d400, greek: 0x1d6a8, digits: 0x1d7ce },
  italic: { latin: 0x1d434, greek: 0x1d6e2 },
  'bold-italic': { latin: 0x1d468, greek: 0x1d71c },
  script: { latin: 0x1d49c },
  'bold-script': { latin: 0x1d4d0 },
  fraktur: { latin: 0x1d504 },
  'bold-fraktur': { latin: 0x1d56c },
  'double-struck': { latin: 0x1d538, digits: 0x1d7d8 },
  'sans-serif': { latin: 0x1d5a0, digits: 0x1d7e2 },
  'bold-sans-serif': { latin: 0x1d5d4, greek: 0x1d756, digits: 0x1d7ec },
  'sans-serif-italic': { latin: 0x1d608 },
  'sans-serif-bold-italic': { latin: 0x1d63c, greek: 0x1d790 },
  monospace: { latin: 0x1d670, digits: 0x1d7f6 },
};

/** Letters that Unicode had before the alphabets, whose places there are empty. */
const older: Record<string, Record<string, string>> = {
  italic: { h: 'ℎ', ı: '𝚤', ȷ: '𝚥' },
  script: { B: 'ℬ', E: 'ℰ', F: 'ℱ', H: 'ℋ', I: 'ℐ', L: 'ℒ', M: 'ℳ', R: 'ℛ', e: 'ℯ', g: 'ℊ', o: 'ℴ' },
  fraktur: { C: 'ℭ', H: 'ℌ', I: 'ℑ', R: 'ℜ', Z: 'ℨ' },
  'double-struck': {
    C: 'ℂ',
    H: 'ℍ',
    N: 'ℕ',
    P: 'ℙ',
    Q: 'ℚ',
    R: 'ℝ',
    Z: 'ℤ',
    π: 'ℼ',
    γ: 'ℽ',
    Γ: 'ℾ',
    Π: 'ℿ',
    Σ: '⅀',
  },
  bold: { Ϝ: '𝟊', ϝ: '𝟋' },
};

/** The order of the Greek letters in each alphabet. */
const greek = [...'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡϴΣΤΥΦΧΨΩ∇αβγδεζηθικλμνξοπρςστυφχψω∂ϵϑϰϕϱϖ'];

/** The styles of characters that an alphabet lacks, such as operators and accented letters. */
const styles: Record<string, string> = {
  bold: 'font-weight:bold;',
  italic: 'font-style:italic;',
  'bold-italic': 'font-weight:bold;font-style:italic;',
  'bold-script': 'font-weight:bold;',
  'bold-fraktur': 'font-weight:bold;',
  'sans-serif': 'font-family:sans-serif;',
  'bold-sans-serif': 'font-family:sans-serif;font-weight:bold;',
  'sans-serif-italic': 'font-family:sans-serif;font-style:italic;',
  'sans-serif-bold-italic': 'font-family:sans-serif;font-weight:bold;font-style:italic;',
  monospace: 'font-family:monospace;',
};

/** Whether a value of `mathvariant` is known. */
export function isVariant(variant: string): boolean {
  return variant === 'normal' || Object.hasOwn(alphabets, variant);
}

/** Returns the letters of an alphabet in place of plain ones; null if it lacks one of the characters. */
export function inAlphabet(text: string, variant: string): string | null {
  let changed = '';
  for (const character of text) {
    const letter = letterOf(character, variant);
    if (letter === null) return null;
    changed += letter;
  }
  return changed;
}

/** Returns the style that stands for an alphabet; '' if there is none. */
export function styleOf(variant: string): string {
  return styles[variant] ?? '';
}

function letterOf(character: string, variant: string): string | null {
  const early = older[variant]?.[character];
  if (early !== undefined) return early;
  const { latin, greek: greekStart, digits } = alphabets[variant] ?? {};
  const code = character.codePointAt(0) ?? 0;
  const at = (start: number | undefined, offset: number) =>
    start === undefined ? null : String.fromCodePoint(start + offset);
  if (/[A-Z]/.test(character)) return at(latin, code - 0x41);
  if (/[a-z]/.test(character)) return at(latin, code - 0x61 + 26);
  if (/[0-9]/.test(character)) return at(digits, code - 0x30);
  const place = greek.indexOf(character);
  if (place >= 0) return at(greekStart, place);
  // White space, and letters that already have an alphabet.
  return /[\s\u2061-\u2064]|[\u{1d400}-\u{1d7ff}]/u.test(character) ? character : null;
}
