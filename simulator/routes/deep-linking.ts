import type Router from '@koa/router';
import { acceptDeepLinking } from '../deep-linking.ts';
import type { DeepLinkingOutcome } from '../deep-linking.ts';
import { createRouter, readParameters } from '../http.ts';
import type { RequestState } from '../http.ts';
import { renderRejectionPages, sendHtml } from '../pages/send.ts';
import { deepLinkedPage } from '../pages/return-pages.ts';
import type { Platform } from '../platform.ts';

/** The endpoint for deep linking responses. */
export function deepLinkingRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  const rejections = renderRejectionPages(platform, 'deep linking response');
  router.post('/deep-linking/return', rejections, async (ctx) => {
    const content = readParameters(ctx);
    const outcome = await acceptDeepLinking(platform, content.JWT ?? '');
    const summary = summaryOf(outcome);
    platform.journal.addMessage({ kind: 'deep linking response', accepted: true, summary, content });
    sendHtml(ctx, deepLinkedPage(outcome));
  });
  return router;
}

function summaryOf({ links, errorMessage }: DeepLinkingOutcome): string {
  if (errorMessage !== null) return `error: ${errorMessage}`;
  return links.length === 0 ? 'nothing chosen' : links.map(({ title }) => title).join(', ');
}
