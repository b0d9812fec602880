import { intlLocale } from '../../../shared/i18n/message.ts';

/** How a language writes numbers. */
interface Separators {
  decimal: string;
  group: string;
}

/**
 * Reads a number as speakers of a language write it: `3,4` and `1.000` in German, Arabic digits, `1.1e-6` and
 * `1.1 × 10^-6`, fractions such as `3/4`, and the unit after it.
 *
 * @param unit may follow the number
 * @returns undefined for a text that is not a finite number
 */
export function parseNumber(text: string, language: string, unit: string): number | undefined {
  let plain = westernDigits(text.normalize('NFKC'))
    // With spaces, marks of direction, and the Arabic sign that groups digits.
    .replace(/[\s\u200e\u200f\u066c]+/g, '')
    .replace(/[−–]/g, '-');
  const suffix = unit.normalize('NFKC').replace(/\s+/g, '');
  if (suffix && plain.toLowerCase().endsWith(suffix.toLowerCase())) plain = plain.slice(0, -suffix.length);
  const fraction = /^([^/]+)\/([^/]+)$/.exec(plain);
  if (fraction === null) return parseDecimal(plain, language);
  const [top, bottom] = fraction.slice(1).map((part) => parseDecimal(part, language));
  return top === undefined || bottom === undefined || bottom === 0 ? undefined : top / bottom;
}

/** Writes a number as speakers of a language do. */
export function writeNumber(value: number, language: string): string {
  try {
    return value.toLocaleString(intlLocale(language), {
      maximumSignificantDigits: 12,
      useGrouping: Math.abs(value) >= 10_000,
    });
  } catch {
    return String(value);
  }
}

function parseDecimal(text: string, language: string): number | undefined {
  const { decimal, group } = separatorsOf(language);
  let plain = text.replace(/[×x·*]10\^?(?=[+-]?\d)/i, 'e').replace(/['’]/g, '');
  const grouped = new RegExp(`^[+-]?\\d{1,3}(?:${escaped(group)}\\d{3})+(?:${escaped(decimal)}\\d+)?$`);
  // The other sign is a decimal sign too, unless it groups digits: learners mix both.
  if (grouped.test(plain)) plain = plain.replaceAll(group, '').replace(decimal, '.');
  else plain = plain.replace(/[,٫]/, '.');
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

function separatorsOf(language: string): Separators {
  try {
    const parts = new Intl.NumberFormat(`${language}-u-nu-latn`).formatToParts(1_234_567.8);
    const find = (type: string) => parts.find((part) => part.type === type)?.value.trim();
    return { decimal: find('decimal') || '.', group: find('group') || ',' };
  } catch {
    return { decimal: '.', group: ',' };
  }
}

/** The zeros of Arabic, Persian and Devanagari digits. */
const zeros = [0x660, 0x6f0, 0x966];

function westernDigits(text: string): string {
  return text.replace(/[٠-٩۰-۹०-९]/g, (digit) => {
    const code = digit.charCodeAt(0);
    return String(code - (zeros.findLast((zero) => zero <= code) ?? 0));
  });
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
