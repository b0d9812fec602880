/*
 * Internationalization (i18n): the one lookup for everything that learners and teachers read, on the server and in the
 * browser. The messages are in locales/<language>.json, in ICU MessageFormat.
 */
import format from 'icu-minify/format';
import { catalogs } from './catalogs.ts';
import type { Catalog, MessageKey } from './catalogs.ts';
import type { MessageValues } from './message-values.ts';

export type { Catalog, MessageKey };

type Values<Key extends MessageKey> = Key extends keyof MessageValues ? [values: MessageValues[Key]] : [];

/**
 * Returns a message in a language; in English where Lectern does not have the language. Numbers are written as the
 * language writes them.
 *
 * @param locale a BCP 47 tag: region and script do not matter for the text (`pt-BR` reads `pt`), but may for numbers
 */
export function message<Key extends MessageKey>(locale: string, key: Key, ...[values]: Values<Key>): string {
  const language = supportedLanguage(locale) ?? 'en';
  const compiled = catalogs[language]?.[key];
  // A bundle without the message has a wrong prefix in player/build.ts: the key says more than an empty page.
  if (compiled === undefined) return key;
  return format<string>(compiled, locale, values, {
    formats: { dateTime: { medium: { dateStyle: 'medium' } } },
    timeZone: 'UTC',
    formatters: {
      getNumberFormat: (tag) => numberFormat(String(tag)),
      // By the language of the text, which is English where Lectern does not have the one that was asked for.
      getPluralRules: (_tag, options) => new Intl.PluralRules(language, options),
      getDateTimeFormat: (tag, options) => new Intl.DateTimeFormat(tag, options),
    },
  }) as string;
}

/** Returns the languages that Lectern has messages in; English, the fallback, first. */
export function supportedLanguages(): string[] {
  return Object.keys(catalogs);
}

/**
 * Returns which of the languages a tag means; undefined for a language that Lectern does not have.
 *
 * @param tag a BCP 47 tag, or as some learning platforms write it: `pt_BR`, `en_us`
 */
export function supportedLanguage(tag: string): string | undefined {
  const base = baseLanguage(tag);
  return Object.hasOwn(catalogs, base) ? base : undefined;
}

/** Returns the messages in a language whose keys begin with one of these prefixes, for a page to carry them. */
export function messagesWith(locale: string, prefixes: readonly string[]): Catalog {
  const messages = Object.entries(catalogs[supportedLanguage(locale) ?? 'en'] ?? {});
  return Object.fromEntries(messages.filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))));
}

/** Adds the messages that a page carries to a bundle that was built without any. */
export function addMessages(locale: string, messages: Catalog): void {
  catalogs[baseLanguage(locale)] = messages;
}

function baseLanguage(tag: string): string {
  return tag.trim().toLowerCase().split(/[-_]/)[0] ?? '';
}

/** Languages in which the numbers of steps and points look as in JSON, in every country. */
const plainNumbers = /^(de|en|es|fr|pt|zh)(-[a-z]{2})?$/i;

/** Avoids Intl for small numbers: browsers take long to load it, and would before the first step of each lesson. */
function numberFormat(locale: string): Intl.NumberFormat {
  const write = (value: number) => {
    if (Number.isInteger(value) && value >= 0 && value < 1000 && plainNumbers.test(locale)) return `${value}`;
    try {
      return value.toLocaleString(locale, { maximumFractionDigits: 2 });
    } catch {
      // A tag that is no BCP 47 tag: the number still has to be shown.
      return String(value);
    }
  };
  return { format: write } as Intl.NumberFormat;
}
