import { listOf, recordOf } from '../json-values.ts';
import { earnedByParts, partIdOf, readPoints, textOf } from './scoring.ts';
import { typedText } from './typed-text.ts';
import type { QuestionFacts, Score, WidgetScoring } from './scoring.ts';

/** The gaps and the scoring of texts with blanks. */

/** A gap in the text. */
export interface Blank {
  id: string;
  /** The accepted answers, as the author wrote them; the first one is shown to learners. */
  answers: string[];
}

export interface BlanksQuestion extends QuestionFacts {
  /** The gaps that the text contains, in its order. */
  blanks: Blank[];
  partialCredit: boolean;
  caseSensitive: boolean;
  ignoreAccents: boolean;
  allowTypos: boolean;
}

export const fillInTheBlanksScoring: WidgetScoring = {
  questionOf,
  score: scoreBlanks,
  rightAnswer: (props) =>
    Object.fromEntries(readBlanks(props).blanks.map(({ id, answers }) => [id, answers[0]])),
};

/** A gap: the id of its blank in double square brackets. The text is HTML, so ids hold no markup. */
const gap = /\[\[([\w-]{1,64})\]\]/g;

/** Longer texts count as wrong, before or after NFKC, which makes up to 18 characters of one. */
export const maxBlankCharacters = 200;

/** Limits of the server's work for one answer. */
export const maxBlanks = 100;
export const maxAnswers = 20;
const maxTypoCharacters = 40;

function questionOf(props: unknown): (BlanksQuestion & { text: string }) | null {
  const question = readBlanks(props);
  if (question.blanks.length === 0 || question.points === 0) return null;
  // The gaps alone stand for the text, because an outline must stay small.
  return { ...question, text: question.blanks.map(({ id }) => `[[${id}]]`).join('') };
}

/** Reads a block's unchecked props. Leaves out gaps without an accepted answer, and those that the text repeats. */
export function readBlanks(props: unknown): BlanksQuestion {
  const { text, blanks, points, partialCredit, caseSensitive, ignoreAccents, allowTypos } = recordOf(props);
  const known = new Map<string, Blank>();
  for (const entry of listOf(blanks)) {
    const { id, answers } = recordOf(entry);
    const key = partIdOf(id);
    const accepted = acceptedIn(answers);
    if (key !== undefined && !known.has(key) && accepted.length > 0) {
      known.set(key, { id: key, answers: accepted });
    }
  }
  const ids = new Set(gapIds(textOf(text)));
  const used = [...ids].flatMap((id) => known.get(id) ?? []).slice(0, maxBlanks);
  return {
    blanks: used,
    points: readPoints(points, used.length),
    partialCredit: partialCredit !== false,
    caseSensitive: caseSensitive === true,
    ignoreAccents: ignoreAccents === true,
    allowTypos: allowTypos === true,
  };
}

/** Returns the ids of the gaps in a text, in its order. */
export function gapIds(text: string): string[] {
  return [...text.matchAll(gap)].map(([, id = '']) => id);
}

/** Splits a text at its gaps: texts at even indexes, ids of gaps at odd ones. */
export function splitAtGaps(text: string): string[] {
  return text.split(gap);
}

/** Returns the accepted answers of a gap: those with a visible character, at most 20. */
export function acceptedIn(answers: unknown): string[] {
  const texts = listOf(answers).map((answer) =>
    typeof answer === 'number' ? String(answer) : textOf(answer),
  );
  return texts.filter((text) => text.trim() !== '' && !isTooLong(text)).slice(0, maxAnswers);
}

function isTooLong(text: string): boolean {
  return text.length > maxBlankCharacters || text.normalize('NFKC').length > maxBlankCharacters;
}

/** Returns the characters that the server reads and compares for the accepted answers of a question. */
export function acceptedCharacters(props: unknown): number {
  return readBlanks(props)
    .blanks.flatMap(({ answers }) => answers)
    .reduce((sum, answer) => sum + Math.max(answer.length, typedText(answer).length), 0);
}

/**
 * Scores an answer: each gap with an accepted text earns its share of the points.
 *
 * @param answer the texts by blank id; anything else counts as empty
 */
export function scoreBlanks(props: unknown, answer: unknown): Score | null {
  const question = readBlanks(props);
  const { blanks, points, partialCredit } = question;
  if (blanks.length === 0 || points === 0) return null;
  return earnedByParts(
    points,
    blanks.map((blank) => isAccepted(question, blank, answerIn(answer, blank.id))),
    partialCredit,
  );
}

/** Returns the learner's text in a gap; '' if there is none. */
export function answerIn(answer: unknown, blankId: string): string {
  const given = recordOf(answer);
  return Object.hasOwn(given, blankId) ? textOf(given[blankId]) : '';
}

/** Checks a learner's text against the accepted answers of its gap. */
export function isAccepted(
  options: Pick<BlanksQuestion, 'caseSensitive' | 'ignoreAccents' | 'allowTypos'>,
  { answers }: Pick<Blank, 'answers'>,
  text: string,
): boolean {
  if (isTooLong(text)) return false;
  const forms = formsOf(text, options).flatMap((form) => [form, form.replace(finalStop, '')]);
  const given = forms.filter((form) => form !== '');
  return answers
    .flatMap((answer) => formsOf(answer, options))
    .some((accepted) =>
      given.some((form) => form === accepted || (options.allowTypos && isTypo(form, accepted))),
    );
}

/** Marks of Latin, Greek, Cyrillic, Hebrew and Arabic. Vowel signs of Indic scripts are not accents. */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u0640]/g;

/** Letters without their marks, for those that Unicode does not take apart. */
const plainLetters = new Map(
  Object.entries({
    œ: 'oe',
    æ: 'ae',
    ø: 'o',
    ł: 'l',
    đ: 'd',
    ð: 'd',
    þ: 'th',
    ħ: 'h',
    ŧ: 't',
    ı: 'i',
    ٱ: 'ا',
    ى: 'ي',
  }),
);

/** How writers of German and Nordic languages replace letters that their keyboard lacks. */
const replacedLetters = new Map(Object.entries({ ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' }));

const finalStop = / ?[.。।۔]$/;

/** Returns a text, in the forms to compare, without the differences that do not count. */
function formsOf(
  text: string,
  { caseSensitive, ignoreAccents }: Pick<BlanksQuestion, 'caseSensitive' | 'ignoreAccents'>,
): string[] {
  // Learners do not see these differences, or cannot type them.
  let plain = typedText(text).replace(/[“”„‟«»]|''/g, '"');
  plain = plain.replace(/ß/g, 'ss').replace(/ẞ/g, 'SS').replace(/ی/g, 'ي').replace(/ک/g, 'ك');
  // The dotted capital of Turkish leaves its dot, and Greek has a second small letter at the end of words.
  if (!caseSensitive)
    plain = plain
      .toLowerCase()
      .replace(/i\u0307/g, 'i')
      .replace(/ς/g, 'σ');
  if (!ignoreAccents) return [plain];
  return [plain, replaceLetters(plain, replacedLetters)].map((form) =>
    replaceLetters(form.normalize('NFD').replace(accents, '').normalize('NFC'), plainLetters),
  );
}

/** @param letters by the lower-case letter; capitals get capitals */
function replaceLetters(text: string, letters: ReadonlyMap<string, string>): string {
  return text.replace(/\p{L}/gu, (letter) => {
    const capitals = letters.get(letter.toLowerCase())?.replace(/^./, (first) => first.toUpperCase());
    return letters.get(letter) ?? capitals ?? letter;
  });
}

/**
 * Recognizes one wrong, missing, extra or swapped character, or two in words of ten or more characters. Another number is
 * no typo.
 */
function isTypo(given: string, accepted: string): boolean {
  const [a, b] = [[...given], [...accepted]];
  const allowed = b.length >= 10 ? 2 : b.length >= 4 ? 1 : 0;
  if (b.length > maxTypoCharacters || Math.abs(a.length - b.length) > allowed) return false;
  return numbersIn(given) === numbersIn(accepted) && isWithin(allowed, a, b);
}

/** Returns the numbers in a text, with their signs, as one text. */
function numbersIn(text: string): string {
  return (text.match(/(?:(?:^|[ (])[-+])?\d+(?:[.,:/]\d+)*/g) ?? []).join(';');
}

/**
 * Counts insertions, deletions, replacements, and swaps of neighbors (optimal string alignment), and returns whether there
 * are at most `allowed`. Looks only at positions that are no further apart.
 */
function isWithin(allowed: number, a: readonly string[], b: readonly string[]): boolean {
  let before: number[] = [];
  let last = b.map((_, index) => index).concat(b.length);
  for (let row = 1; row <= a.length; row += 1) {
    const next: number[] = [];
    next[0] = row;
    const end = Math.min(b.length, row + allowed);
    let least = row;
    for (let column = Math.max(1, row - allowed); column <= end; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const distance = Math.min(
        at(last, column) + 1,
        at(next, column - 1) + 1,
        at(last, column - 1) + cost,
        isSwap ? at(before, column - 2) + cost : Infinity,
      );
      next[column] = distance;
      least = Math.min(least, distance);
    }
    if (least > allowed) return false;
    [before, last] = [last, next];
  }
  return at(last, b.length) <= allowed;
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
