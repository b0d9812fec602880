import type { Context } from 'koa';
import { supportedLanguage, supportedLanguages } from '../../shared/i18n/message.ts';

/**
 * Returns the language of a page's messages: the one that a platform asks for, else one that the browser reads, else
 * English.
 *
 * @param asked as the platform writes it
 */
export function pageLanguage(ctx: Context, asked = ''): string {
  return supportedLanguage(asked) ?? (ctx.acceptsLanguages(supportedLanguages()) || 'en');
}
