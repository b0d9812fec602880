import { expect, test } from 'vitest';
import { isAccepted } from '../../shared/lessons/scoring/fill-in-the-blanks.ts';

const options = (changes = {}) => ({
  ...{ caseSensitive: false, ignoreAccents: false, allowTypos: false },
  ...changes,
});

// Words of many languages. cspell:disable

test.each<[rule: string, accepted: string, given: string, options: object, accepts: boolean]>([
  ['spaces of any kind and number are one', 'a b', 'a \n b', {}, true],
  ['a missing space counts', 'a b', 'ab', {}, false],
  ['quotation marks and dashes of any kind are equal', '“a” – b', '"a" - b', {}, true],
  ['letters count where accents do not', 'año', 'alo', { ignoreAccents: true }, false],
  ['nothing is wrong, even for a mark alone', '\u0640', '', { ignoreAccents: true }, false],
  ['200 characters are read', 'a'.repeat(200), 'a'.repeat(200), {}, true],
  ['201 characters are too many, spaces included', 'a', `a${' '.repeat(200)}`, {}, false],
  ['a sign of 18 letters is read 11 times', 'ﷺ'.repeat(11), 'ﷺ'.repeat(11), {}, true],
  ['12 signs of 18 letters are too many', 'ﷺ'.repeat(12), 'ﷺ'.repeat(12), {}, false],
  ['a missing character is a typo', 'abcd', 'abc', { allowTypos: true }, true],
  ['two wrong neighbors are no swap', 'abcd', 'aefd', { allowTypos: true }, false],
  ['the first half of a swap is none', 'abcd', 'aced', { allowTypos: true }, false],
  ['the second half of a swap is none', 'abcd', 'aebd', { allowTypos: true }, false],
  ['a swap and an extra character are two typos', 'abcd', 'acbde', { allowTypos: true }, false],
  ['9 characters allow one typo', 'abcdefghi', 'bacdefgih', { allowTypos: true }, false],
  ['10 characters allow two', 'abcdefghij', 'bacdefghji', { allowTypos: true }, true],
  ['40 characters may have typos', 'a'.repeat(40), 'a'.repeat(39), { allowTypos: true }, true],
  ['41 characters may not', 'a'.repeat(41), 'a'.repeat(40), { allowTypos: true }, false],
  ['another digit is no typo', '1915', '1914', { allowTypos: true }, false],
  ['swapped digits are no typo', 'in July 1915', 'in July 1951', { allowTypos: true }, false],
  ['a missing digit is no typo', '1000000000', '100000000', { allowTypos: true }, false],
  ['a lost decimal sign is no typo', '3.14159', '314159', { allowTypos: true }, false],
  ['a lost minus is no typo', '-12 degrees', '12 degrees', { allowTypos: true }, false],
  ['Arabic digits are digits: no typo', '١٩١٥', '١٩١٤', { allowTypos: true }, false],
  ['a typo beside a number', 'COVID-19', 'COVID19', { allowTypos: true }, true],
  ['a typo in the words of a date', '28 July 1914', '28 Juli 1914', { allowTypos: true }, true],
])('%s', (_rule, accepted, given, changes, accepts) => {
  expect(isAccepted(options(changes), { answers: [accepted] }, given)).toBe(accepts);
});

/** Pairs of texts that are equal, whichever of them is the accepted answer. */
const equal: [kind: string, one: string, other: string][] = [
  ...[...'’‘‛ʼʻ`´′＇'].map((mark): [string, string, string] => ['apostrophes', "don't", `don${mark}t`]),
  ['quotation marks', '«a» „b“', '"a" "b"'],
  ['quotation marks of two apostrophes', '“a”', '´´a´´'],
  ['composed and decomposed letters', 'Übermäßig', 'U\u0308berma\u0308ßig'],
  ['composed and decomposed Korean', '한글', '한글'.normalize('NFD')],
  ['ß and ss', 'Straße', 'STRASSE'],
  ['the capital ß', 'STRAẞE', 'straße'],
  ['zero-width and soft hyphens', 'fotosíntesis', 'foto\u00adsínte\u200bsis\ufeff'],
  ['joiners', 'می\u200cخواهم', 'میخواهم'],
  ['marks of direction', 'אמת', '\u200fאמת\u200e'],
  ['Arabic digits', '١٩١٤', '1914'],
  ['digits of Persian, Hindi and full width', '۱۹۱۴ १२ ３', '1914 12 3'],
  ['Persian and Arabic letters that look alike', 'کتابی', 'كتابي'],
  ['no-break and ideographic spaces', 'a\u00a0b\u202fc\u3000d', 'a b c d'],
  ['hyphens', 'e‑mail', 'e-mail'],
  ['the capital İ', 'İzmir', 'izmir'],
  ['the final sigma', 'ΟΔΟΣ', 'οδος'],
  ['ligatures', 'ﬁn', 'fin'],
  ['subscripts', 'H₂O', 'h2o'],
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
  ['Łódź', 'lodz'],
  ['smørrebrød', 'smorrebrod'],
  ['smørrebrød', 'smoerrebroed'],
  ['đường', 'duong'],
  ['Þór', 'thor'],
  ['Malti bil-ħażna', 'malti bil-hazna'],
  ['ışık', 'isik'],
  ['Ärger', 'aerger'],
  ['Ärger', 'Arger'],
  ['Ålesund', 'Aalesund'],
  ['أحمد', 'احمد'],
  ['إسلام', 'اسلام'],
  ['آداب', 'اداب'],
  ['ٱلله', 'الله'],
  ['مؤمن', 'مومن'],
  ['بيئة', 'بيية'],
  ['مُحَمَّد', 'محمد'],
  ['على', 'علي'],
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
  ['high tide', 'high tide .', true],
  ['3.14', '3.14.', true],
  // The period is a part of these answers.
  ['e.g.', 'e.g.', true],
  ['e.g.', 'e.g', false],
  ['high tide', '.high tide', false],
  ['102', '10²', false],
  ['10^2', '10²', true],
  ['11/2', '1½', false],
  ['1 1/2', '1½', true],
  ['a', '.', false],
])('for %s, %s is right: %s', (accepted, given, accepts) => {
  expect(isAccepted(options(), { answers: [accepted] }, given)).toBe(accepts);
});
