import type { Context } from 'koa';
import { supportedLanguage, supportedLanguages } from '../../shared/i18n/message.ts';

/**
 * Returns the language of a page's messages (i18n): the platform's, else the browser's, else English.
 *
 * @param wanted the language that the platform requests, as it writes it
 */
export function pageLanguage(ctx: Context, wanted = ''): string {
  return supportedLanguage(wanted) ?? (ctx.acceptsLanguages(supportedLanguages()) || 'en');
}
