import { intlLocale } from '../../../shared/i18n/message.ts';
import { typedText } from '../../../shared/lessons/scoring/typed-text.ts';

/** How a language writes numbers, in the signs of {@link plainText}. */
interface NumberStyle {
  decimal: string;
  group: string;
  /** The digits of the last group, and of those before it. */
  sizes: readonly [last: number, others: number];
}

/**
 * Reads a number as speakers of a language write it: `3,4` and `1.000` in German, any Unicode digits, `1.1e-6` and
 * `1.1 × 10⁻⁶`, fractions such as `3/4` and `1 ½`, and the unit. Signs that cannot group digits are decimal signs,
 * because learners mix both: `0.125` in German.
 *
 * @param unit may follow or precede the number; without one, a currency sign may
 * @returns undefined for a text that is not a finite number, or that could be two: `1.234` in French
 */
export function parseNumber(text: string, language: string, unit: string): number | undefined {
  const [top = '', bottom, ...more] = withoutUnit(plainText(text), plainText(unit)).split(/ ?\/ ?/);
  if (more.length > 0) return undefined;
  const style = styleOf(language);
  if (bottom === undefined) return parseDecimal(top, style);
  const mixed = /^(-)?[ +]*(\d+) (\d+)$/.exec(top);
  if (mixed === null) return finite(quotient(parseDecimal(top, style), parseDecimal(bottom, style)));
  const [, minus, whole = '', part = ''] = mixed;
  // `1 234/5` could be a fraction of 1,234, too.
  const isProper = /^\d+$/.test(bottom) && part.length !== 3 && Number(part) < Number(bottom);
  const size = Number(whole) + Number(part) / Number(bottom);
  return isProper ? finite(minus ? -size : size) : undefined;
}

/** Writes a number as speakers of a language do, so that {@link parseNumber} reads it. */
export function writeNumber(value: number, language: string): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-6 || size >= 1e15)) {
    const [digits, exponent] = value.toExponential(11).split('e').map(Number);
    return `${writeDecimal(digits ?? 0, language)} × ${writeDecimal(10, language)}^${writeDecimal(exponent ?? 0, language)}`;
  }
  return writeDecimal(value, language);
}

function writeDecimal(value: number, language: string): string {
  try {
    return value.toLocaleString(intlLocale(language), {
      maximumSignificantDigits: 12,
      useGrouping: Math.abs(value) >= 10_000,
    });
  } catch {
    return String(value);
  }
}

/** Returns a text with the signs of ASCII, and `'` for other signs that only group digits. */
function plainText(text: string): string {
  return typedText(text)
    .replace(/÷/g, '/')
    .replace(/٬/g, "'")
    .replace(/[،⹁]/g, ',')
    .replace(/。/g, '.')
    .replace(/٪/g, '%');
}

/** Removes the unit around a number. Case counts in symbols, because mW and MW differ, but not in words. */
function withoutUnit(text: string, unit: string): string {
  const plain = withoutStop(text);
  const letters = [...withoutStop(unit).replace(/[ ^]/g, '')];
  if (letters.length === 0) return plain.replace(/^([+-]?) ?\p{Sc}|\p{Sc}$/u, '$1').trim();
  const signs = letters.map((letter) => letter.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('[ ^]*');
  const flags = letters.length > 3 ? 'iu' : 'u';
  const after = new RegExp(`^(.*?)${signs}$`, flags).exec(plain)?.[1];
  return (after ?? plain.replace(new RegExp(`^([+-]?) ?${signs}`, flags), '$1')).trim();
}

function withoutStop(text: string): string {
  return text.replace(/[. ]+$/, '');
}

/** Reads a number without unit and fraction, with a power of ten: `1.6e-19`, `1,6·10^-19`, `10²`. */
function parseDecimal(text: string, style: NumberStyle): number | undefined {
  const full = text.replace(/^[+-]? ?(?=10 ?(?:\^|\*\*))/, '$&1×');
  const scaled = /^(.*?\d[.,]?) ?(?:e|[×*·∙⋅xх] ?10 ?(?:\^|\*\*))(.+)$/i.exec(full);
  const [, mantissa = text, exponent = '0'] = scaled ?? [];
  const [, sign = '', digits = ''] = /^([+-]?) ?(\d?[\d.,٫' ]*)$/.exec(mantissa) ?? [];
  const plain = plainDigits(digits, style, scaled !== null);
  const [, shift] = /^ ?\(? ?([+-]? ?\d{1,3}) ?\)?$/.exec(exponent) ?? [];
  if (plain === undefined || shift === undefined) return undefined;
  return finite(Number(`${sign}${plain}e${shift.replace(' ', '')}`));
}

/**
 * Returns digits with a point as the only sign; undefined if that is not clear.
 *
 * @param isScaled whether a power of ten follows: such numbers are not grouped
 */
function plainDigits(text: string, style: NumberStyle, isScaled: boolean): string | undefined {
  const digits = text.replace(/[.,٫]$/, '');
  const decimal = decimalSign(digits, style, isScaled);
  if (decimal === undefined) return undefined;
  const [whole = '', fraction = '', ...more] = decimal === '' ? [digits] : digits.split(decimal);
  const integer = ungrouped(whole, style);
  if (integer === undefined || more.length > 0 || !/^(?:\d*|(?:\d{3} )+\d{1,3})$/.test(fraction))
    return undefined;
  return integer + fraction === '' ? undefined : `${integer || '0'}.${fraction.replaceAll(' ', '') || '0'}`;
}

/** Returns the decimal sign in digits; '' if they have none, undefined if that is not clear. */
function decimalSign(digits: string, { decimal, group }: NumberStyle, isScaled: boolean): string | undefined {
  const signs = digits.match(/[.,٫]/g) ?? [];
  const last = signs.at(-1) ?? '';
  if (signs.length === 0 || last === '٫' || signs.some((sign) => sign !== last)) return last;
  if (signs.length > 1) return '';
  // One sign before three digits may group them; a group never begins with 0.
  if (isScaled || last === decimal || !/^[1-9]\d{0,2}[.,]\d{3}$/.test(digits)) return last;
  return last === group ? '' : undefined;
}

/** Removes the signs between groups of three digits, of the Indian style or of the language; undefined for others. */
function ungrouped(digits: string, { sizes }: NumberStyle): string | undefined {
  const [sign] = /\D/.exec(digits) ?? [];
  if (sign === undefined) return digits;
  const [first = '', ...groups] = digits.split(sign);
  const isStyle = ([last, others]: readonly [number, number]) =>
    first.length <= others &&
    groups.every((group, index) => group.length === (index === groups.length - 1 ? last : others));
  const isGrouped = /^[1-9]/.test(first) && [[3, 3] as const, [3, 2] as const, sizes].some(isStyle);
  return isGrouped ? first + groups.join('') : undefined;
}

function styleOf(language: string): NumberStyle {
  try {
    const format = new Intl.NumberFormat(intlLocale(language), { numberingSystem: 'latn' });
    const parts = format.formatToParts(1_234_567_890.5);
    const find = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
    const [others = 3, last = 3] = parts
      .flatMap(({ type, value }) => (type === 'integer' ? value.length : []))
      .slice(-2);
    return { decimal: plainText(find('decimal')), group: plainText(find('group')), sizes: [last, others] };
  } catch {
    return { decimal: '.', group: ',', sizes: [3, 3] };
  }
}

function quotient(top: number | undefined, bottom: number | undefined): number | undefined {
  return top === undefined || bottom === undefined ? undefined : top / bottom;
}

function finite(value: number | undefined): number | undefined {
  // No learner means -0.
  return value !== undefined && Number.isFinite(value) ? value + 0 : undefined;
}
