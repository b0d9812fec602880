/** A formula in a text, or a dollar sign that an author has escaped. Positions count UTF-16 units. */
export interface FoundTex {
  start: number;
  end: number;
  /** Without its delimiters; null for an escaped dollar sign, `\$`. */
  tex: string | null;
  /** Whether the formula has its own line. */
  display: boolean;
}

interface Delimiters {
  open: string;
  close: string;
  display: boolean;
}

const delimiters: Delimiters[] = [
  { open: '$$', close: '$$', display: true },
  { open: '\\[', close: '\\]', display: true },
  { open: '\\(', close: '\\)', display: false },
  { open: '$', close: '$', display: false },
];

/** The beginning of a formula, or an escaped character. */
const openers = /\\[\\$([]|\$\$?/g;

/** A formula in a text is shorter. */
const maxCharacters = 5_000;

/**
 * Finds the formulas between `$…$`, `\(…\)`, `$$…$$` and `\[…\]` in a text. Amounts of money and other dollar signs
 * stay text: see {@link isMathematics}.
 *
 * @param decoded returns a part of the text as readers see it, if it has character references
 */
export function texIn(text: string, decoded: (part: string) => string = (part) => part): FoundTex[] {
  const found: FoundTex[] = [];
  const ends = new Ends(text);
  openers.lastIndex = 0;
  for (let match = openers.exec(text); match !== null; match = openers.exec(text)) {
    const start = match.index;
    if (match[0] === '\\$') found.push({ start, end: start + 2, tex: null, display: false });
    const formula = delimiters
      .filter(({ open }) => match[0].startsWith(open))
      .map((pair) => formulaAt(text, start, pair, { ends, decoded }))
      .find((candidate) => candidate !== undefined);
    if (formula === undefined) continue;
    found.push(formula);
    openers.lastIndex = formula.end;
  }
  return found;
}

/** Returns TeX without the delimiters around all of it, which authors write out of habit. */
export function withoutDelimiters(tex: string): string {
  const trimmed = tex.trim();
  for (const { open, close } of delimiters) {
    const inner = trimmed.slice(open.length, -close.length);
    const isWhole = trimmed.length > open.length + close.length && !unescaped(inner, close);
    if (isWhole && trimmed.startsWith(open) && trimmed.endsWith(close)) return inner;
  }
  return tex;
}

function unescaped(tex: string, close: string): boolean {
  return close.startsWith('$') ? /(?:^|[^\\])\$/.test(tex) : tex.includes(close);
}

function formulaAt(
  text: string,
  start: number,
  { open, close, display }: Delimiters,
  { ends, decoded }: { ends: Ends; decoded: (part: string) => string },
): FoundTex | undefined {
  const from = start + open.length;
  const until = ends.after(from, close);
  if (until < 0 || until - from > maxCharacters) return undefined;
  const end = until + close.length;
  const tex = decoded(text.slice(from, until));
  const isFormula =
    open === '$'
      ? isInline(tex, text.charAt(start - 1), text.charAt(end))
      : tex.trim() !== '' && isMathematics(tex);
  return isFormula ? { start, end, tex, display } : undefined;
}

/** Finds the ends of formulas. Scans the text once for each kind, even if it has many beginnings and no end. */
class Ends {
  readonly #text: string;
  readonly #next = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns where the next closing delimiter is; -1 if there is none. */
  after(from: number, close: string): number {
    const known = this.#next.get(close);
    if (known !== undefined && (known < 0 || known >= from)) return known;
    let at = this.#text.indexOf(close, from);
    // An escaped dollar sign belongs to the formula.
    while (at > 0 && close.startsWith('$') && this.#text[at - 1] === '\\') {
      at = this.#text.indexOf(close, at + 1);
    }
    this.#next.set(close, at);
    return at;
  }
}

/**
 * Whether single dollar signs begin and end a formula. As in Pandoc, nothing but the formula touches them from inside,
 * and no digit follows. Besides, an amount or a currency is not their beginning: `US$5 or 6$`.
 */
function isInline(tex: string, before: string, after: string): boolean {
  if (/^\s|\s$|\n\s*\n/.test(tex) || tex === '') return false;
  if (/[A-Za-z\d]/.test(before) || /\d/.test(after)) return false;
  // `(A$) 5, or $HOME/$PATH`: half of a bracket or of an operation.
  if (/^[,;:!?)\]}]|^\.\D/.test(tex) || /[^\\^_{][,;:/([–—-]$/.test(tex)) return false;
  return isMathematics(tex);
}

/** Signs that only TeX has. */
const texSigns = /[\\^_{}]/;
const operators = /[=<>+*/|≤≥≠≈∈×·−→-]/;
const words = /\p{L}{2,}|\p{L}\.\p{L}/u;

/** Whether a text between delimiters is mathematics rather than words or an amount. */
function isMathematics(tex: string): boolean {
  if (texSigns.test(tex) || !words.test(tex)) return true;
  // `5 and 6`, but not `5ab`; and `speed = distance / time`, but not `HOME and PATH`.
  if (!/\s/.test(tex)) return true;
  return !/^[\d(]/.test(tex) && operators.test(tex);
}
