/*
 * Internationalization (i18n): looks up all messages for learners and teachers, on the server and in the browser. They
 * are in locales/<language>.json, in ICU MessageFormat.
 */
import format from 'icu-minify/format';
import { catalogs } from './catalogs.ts';
import type { Catalog, MessageKey } from './catalogs.ts';
import type { MessageValues } from './message-values.ts';

export type { Catalog, MessageKey };

type Values<Key extends MessageKey> = Key extends keyof MessageValues ? [values: MessageValues[Key]] : [];

/**
 * Returns a message in a language, or in English if Lectern lacks the language or the text. Numbers follow the locale.
 *
 * @param locale a BCP 47 tag. Region and script may affect numbers, but not the text: `pt-BR` gets `pt`.
 */
export function message<Key extends MessageKey>(locale: string, key: Key, ...[values]: Values<Key>): string {
  const own = supportedLanguage(locale) ?? 'en';
  const language = catalogs[own]?.[key] === undefined ? 'en' : own;
  const compiled = catalogs[language]?.[key];
  // The bundle lacks the message: player/build.ts has a wrong prefix. The key helps more than an empty text.
  if (compiled === undefined) return key;
  return format<string>(compiled, intlLocale(locale), values, {
    formats: { dateTime: { medium: { dateStyle: 'medium' } } },
    timeZone: 'UTC',
    formatters: {
      getNumberFormat: (tag) => numberFormat(String(tag)),
      // By the language of the text: the fallback is English.
      getPluralRules: (_tag, options) => new Intl.PluralRules(language, options),
      getDateTimeFormat: (tag, options) => new Intl.DateTimeFormat(tag, options),
    },
  }) as string;
}

/** Returns the supported languages; English, the fallback, is first. */
export function supportedLanguages(): string[] {
  return Object.keys(catalogs);
}

/**
 * Returns the supported language of a tag, or undefined.
 *
 * @param tag a BCP 47 tag, or a variant of some learning platforms: `pt_BR`, `en_us`
 */
export function supportedLanguage(tag: string): string | undefined {
  const base = baseLanguage(tag);
  return Object.hasOwn(catalogs, base) ? base : undefined;
}

/** Returns the messages with one of these key prefixes, to embed them in a page. */
export function messagesWith(locale: string, prefixes: readonly string[]): Catalog {
  const messages = Object.entries(catalogs[supportedLanguage(locale) ?? 'en'] ?? {});
  return Object.fromEntries(messages.filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))));
}

/** Adds messages to a bundle: those of a lesson's language, or of a widget that is loaded later. */
export function addMessages(locale: string, messages: Catalog): void {
  const language = baseLanguage(locale);
  catalogs[language] = { ...catalogs[language], ...messages };
}

function baseLanguage(tag: string): string {
  return tag.trim().toLowerCase().split(/[-_]/)[0] ?? '';
}

/**
 * Returns the tag that Intl writes numbers and dates with. Intl writes `ar` without a country in Western digits, which
 * most readers of Arabic do not expect.
 */
export function intlLocale(locale: string): string {
  return /^ar$/i.test(locale) ? 'ar-u-nu-arab' : locale;
}

/** Languages that write small numbers as JSON does, in every country. */
const plainNumbers = /^(de|en|es|fr|pt|zh)(-[a-z]{2})?$/i;

/** Avoids Intl for small numbers: browsers load it slowly, which would delay the first step of every lesson. */
function numberFormat(locale: string): Intl.NumberFormat {
  const write = (value: number) => {
    if (Number.isInteger(value) && value >= 0 && value < 1000 && plainNumbers.test(locale)) return `${value}`;
    try {
      return value.toLocaleString(locale, { maximumFractionDigits: 4 });
    } catch {
      // The tag is not valid BCP 47, but the number must appear.
      return String(value);
    }
  };
  return { format: write } as Intl.NumberFormat;
}

const rightToLeftLanguages = /^(ar|arc|ckb|dv|fa|he|iw|ks|nqo|ps|sd|syr|ug|ur|yi)$/;
const rightToLeftScripts = /^(adlm|arab|hebr|nkoo|rohg|syrc|thaa)$/;

/**
 * Returns the direction in which a language is written. A script in the tag decides (`ku-Arab`, `ar-Latn`), else the
 * language. Not every browser that the player supports has this in `Intl.Locale`.
 *
 * @param language a BCP 47 tag
 */
export function textDirection(language: string): 'ltr' | 'rtl' {
  const [base = '', ...rest] = language.toLowerCase().split('-');
  const script = rest.find((subtag) => /^[a-z]{4}$/.test(subtag));
  if (script) return rightToLeftScripts.test(script) ? 'rtl' : 'ltr';
  return rightToLeftLanguages.test(base) ? 'rtl' : 'ltr';
}
