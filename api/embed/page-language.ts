import type { Context } from 'koa';
import { knownLanguage, pageLanguages } from './page-words.ts';

/**
 * The language of a page's words: the one that a platform asks for, else one that the browser reads, else English.
 *
 * @param asked as the platform writes it.
 */
export function pageLanguage(ctx: Context, asked = ''): string {
  return knownLanguage(asked) ?? (ctx.acceptsLanguages(pageLanguages) || 'en');
}
