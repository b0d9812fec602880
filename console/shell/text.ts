import { signal } from '@preact/signals';
import { loadMessages } from 'messages:languages';
import {
  addMessages,
  intlLocale,
  message,
  supportedLanguage,
  textDirection,
} from '../../shared/i18n/message.ts';
import type { MessageKey } from '../../shared/i18n/message.ts';
import type { MessageValues } from '../../shared/i18n/message-values.ts';
import { readPreference, savePreference } from './preferences.ts';

/** The keys of the console's messages, without their common prefix. */
export type TextKey = MessageKey extends infer Key
  ? Key extends `console.${infer Rest}`
    ? Rest
    : never
  : never;

type Values<Key extends TextKey> = `console.${Key}` extends keyof MessageValues
  ? [values: MessageValues[`console.${Key}`]]
  : [];

/** The language of the console: the one that the reader chose, else the browser's. */
export const locale = signal('en');

/** Returns a text in the reader's language. */
export function t<Key extends TextKey>(key: Key, ...values: Values<Key>): string {
  const get = message as (locale: string, key: string, values?: unknown) => string;
  return get(locale.value, `console.${key}`, values[0]);
}

/** Returns the locale for Intl. */
export function formatLocale(): string {
  return intlLocale(locale.value);
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Returns a size in a unit that fits, in powers of 1000. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log10(bytes) / 3));
  const digits = { maximumFractionDigits: power === 0 ? 0 : 1 };
  return `${(bytes / 1000 ** power).toLocaleString(formatLocale(), digits)} ${byteUnits[power]}`;
}

/** Returns a share from 0 to 1 as a percentage. */
export function formatShare(share: number, maximumFractionDigits = 0): string {
  return share.toLocaleString(formatLocale(), { style: 'percent', maximumFractionDigits });
}

/** Shows the console in the language that the reader chose before, or that the browser prefers. */
export async function startLanguage(): Promise<void> {
  const wanted = [readPreference('language') ?? '', ...navigator.languages];
  await showLanguage(wanted.find((tag) => supportedLanguage(tag) !== undefined) ?? 'en');
}

/** Changes the language, and keeps it for later visits. */
export async function chooseLanguage(tag: string): Promise<void> {
  savePreference('language', tag);
  await showLanguage(tag);
}

async function showLanguage(tag: string): Promise<void> {
  const language = supportedLanguage(tag) ?? 'en';
  const valid = isValidTag(tag) ? tag : language;
  const texts = await loadMessages[language]?.().catch(() => undefined);
  if (texts !== undefined) addMessages(language, texts.default);
  locale.value = valid;
  document.documentElement.lang = valid;
  document.documentElement.dir = textDirection(valid);
}

/** Some systems have tags such as `en-US@posix`, which Intl rejects. */
function isValidTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
