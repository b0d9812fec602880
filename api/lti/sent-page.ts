import type { Context } from 'koa';
import { message } from '../../shared/i18n/message.ts';
import type { LtiDependencies } from './dependencies.ts';
import { pageLanguage } from '../http/page-language.ts';
import { markup } from '../../shared/platform/html.ts';
import type { Choice } from './choices.ts';
import { sendNoticePage } from './notice-page.ts';

/**
 * Answers with a page that carries a signed answer to the platform: at once, or at the press of a button where there
 * are no scripts.
 */
export function sendSentPage(
  deps: Pick<LtiDependencies, 'config' | 'player'>,
  ctx: Context,
  { choice, jwt }: { choice: Choice; jwt: string },
): void {
  const language = pageLanguage(ctx, choice.locale);
  const title = message(language, 'selection.returning');
  const main = markup`<h1>${title}</h1>
<form id="lectern-sent" method="post" action="${choice.returnUrl}">
<input type="hidden" name="JWT" value="${jwt}">
<button>${message(language, 'selection.continue')}</button>
</form>`;
  // The platform may go by where a form comes from; the address of the choice is none of its business.
  ctx.set('Referrer-Policy', 'strict-origin');
  sendNoticePage(deps, ctx, {
    ...{ language, title, main },
    script: { name: 'sent-page' },
  });
}
