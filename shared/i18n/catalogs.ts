import compile from 'icu-minify/compile';
import type { CompiledMessage } from 'icu-minify/format';
import ar from '../../locales/ar.json' with { type: 'json' };
import de from '../../locales/de.json' with { type: 'json' };
import en from '../../locales/en.json' with { type: 'json' };
import es from '../../locales/es.json' with { type: 'json' };
import fr from '../../locales/fr.json' with { type: 'json' };
import pt from '../../locales/pt.json' with { type: 'json' };
import zh from '../../locales/zh.json' with { type: 'json' };

/** English has every message; `npm run check` compares the other languages with it. Those may lack texts of the console. */
export type MessageKey = keyof typeof en;

/** Messages of one language, compiled from ICU MessageFormat. A catalog is JSON: pages carry parts of it. */
export type Catalog = Partial<Record<MessageKey, CompiledMessage>>;

/** Texts of the console, which languages may lack. */
type ConsoleKey = Extract<MessageKey, `console.${string}`>;
type Messages = Record<Exclude<MessageKey, ConsoleKey>, string> & Partial<Record<ConsoleKey, string>>;

/** The first language is the fallback. */
const sources: Record<string, Messages> = { en, es, fr, de, pt, ar, zh };

/**
 * The messages of each language. Browser bundles contain no compiler: player/build.ts replaces this module with the
 * compiled messages of the bundle.
 */
export const catalogs: Record<string, Catalog> = Object.fromEntries(
  Object.entries(sources).map(([language, messages]) => [language, compileAll(messages)]),
);

function compileAll(messages: Messages): Catalog {
  return Object.fromEntries(Object.entries(messages).map(([key, text]) => [key, compile(text)]));
}
