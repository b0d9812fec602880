import { expect, test } from 'vitest';
import { isAccepted } from '../../shared/lessons/scoring/fill-in-the-blanks.ts';

const options = (changes = {}) => ({
  ...{ caseSensitive: false, ignoreAccents: false, allowTypos: false },
  ...changes,
});

// Words of many languages. cspell:disable

test.each<[rule: string, accepted: string, given: string, options: object, accepts: boolean]>([
  ['spaces of any kind and number are one', 'a b', 'a \n b', {}, true],
  ['quotation marks and dashes of any kind are equal', '“a” – b', '"a" - b', {}, true],
  ['letters count where accents do not', 'año', 'alo', { ignoreAccents: true }, false],
  ['200 characters are read', 'a'.repeat(200), 'a'.repeat(200), {}, true],
  ['201 characters are too many, spaces included', 'a', `a${' '.repeat(200)}`, {}, false],
  ['12 signs of 18 letters are too many', 'ﷺ'.repeat(12), 'ﷺ'.repeat(12), {}, false],
  ['a missing character is a typo', 'abcd', 'abc', { allowTypos: true }, true],
  ['two wrong neighbors are no swap', 'abcd', 'aefd', { allowTypos: true }, false],
  ['a swap and an extra character are two typos', 'abcd', 'acbde', { allowTypos: true }, false],
  ['10 characters allow two', 'abcdefghij', 'bacdefghji', { allowTypos: true }, true],
  ['another digit is no typo', '1915', '1914', { allowTypos: true }, false],
  ['swapped digits are no typo', 'in July 1915', 'in July 1951', { allowTypos: true }, false],
  ['a lost decimal sign is no typo', '3.14159', '314159', { allowTypos: true }, false],
  ['a typo beside a number', 'COVID-19', 'COVID19', { allowTypos: true }, true],
  ['a typo in the words of a date', '28 July 1914', '28 Juli 1914', { allowTypos: true }, true],
])('%s', (_rule, accepted, given, changes, accepts) => {
  expect(isAccepted(options(changes), { answers: [accepted] }, given)).toBe(accepts);
});

/** Pairs of texts that are equal, whichever of them is the accepted answer. */
const equal: [kind: string, one: string, other: string][] = [
  ...[...'’‘‛ʼʻ`´′＇'].map((mark): [string, string, string] => ['apostrophes', "don't", `don${mark}t`]),
  ['quotation marks', '«a» „b“', '"a" "b"'],
  ['composed and decomposed letters', 'Übermäßig', 'U\u0308berma\u0308ßig'],
  ['ß and ss', 'Straße', 'STRASSE'],
  ['zero-width and soft hyphens', 'fotosíntesis', 'foto\u00adsínte\u200bsis\ufeff'],
  ['marks of direction', 'אמת', '\u200fאמת\u200e'],
  ['Arabic digits', '١٩١٤', '1914'],
  ['Persian and Arabic letters that look alike', 'کتابی', 'كتابي'],
  ['hyphens', 'e‑mail', 'e-mail'],
  ['the final sigma', 'ΟΔΟΣ', 'οδος'],
  ['ligatures', 'ﬁn', 'fin'],
];
test.each(equal)('%s make no difference: %s = %s', (_kind, one, other) => {
  for (const [accepted, given] of [
    [one, other],
    [other, one],
  ] as const)
    expect(isAccepted(options(), { answers: [accepted] }, given)).toBe(true);
});

/** Pairs of texts that differ by accents in a wide sense. */
const accented: [one: string, other: string][] = [
  ['œuvre', 'oeuvre'],
  ['Ægir', 'aegir'],
  ['smørrebrød', 'smorrebrod'],
  ['đường', 'duong'],
  ['ışık', 'isik'],
  ['Ärger', 'Arger'],
  ['Ålesund', 'Aalesund'],
  ['آداب', 'اداب'],
  ['مُحَمَّد', 'محمد'],
  ['שָׁלוֹם', 'שלום'],
  ['Ελλάδα', 'ελλαδα'],
];
test.each(accented)('ignoreAccents makes %s equal to %s, and nothing else does', (one, other) => {
  for (const [accepted, given] of [
    [one, other],
    [other, one],
  ] as const) {
    expect(isAccepted(options({ ignoreAccents: true }), { answers: [accepted] }, given)).toBe(true);
    expect(isAccepted(options(), { answers: [accepted] }, given)).toBe(false);
  }
  const strict = options({ ignoreAccents: true, caseSensitive: true });
  const lower = (text: string) => text.toLowerCase();
  expect(isAccepted(strict, { answers: [lower(one)] }, lower(other))).toBe(true);
});

test.each<[accepted: string, given: string, accepts: boolean]>([
  ['high tide', 'High tide.', true],
  ['满潮', '满潮。', true],
  ['3.14', '3.14.', true],
  ['e.g.', 'e.g', false],
  ['102', '10²', false],
  ['10^2', '10²', true],
  ['1 1/2', '1½', true],
  ['a', '.', false],
])('for %s, %s is right: %s', (accepted, given, accepts) => {
  expect(isAccepted(options(), { answers: [accepted] }, given)).toBe(accepts);
});
