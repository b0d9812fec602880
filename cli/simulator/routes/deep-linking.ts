import type Router from '@koa/router';
import { acceptDeepLinking } from '../deep-linking.ts';
import type { DeepLinkingOutcome } from '../deep-linking.ts';
import { createRouter, readParameters } from '../http.ts';
import type { RequestState } from '../http.ts';
import { renderRefusedPages, sendHtml } from '../pages/send.ts';
import { deepLinkedPage } from '../pages/return-pages.ts';
import type { Platform } from '../platform.ts';
import { Refusal } from '../refusal.ts';

/** Where tools send what a teacher chose. */
export function deepLinkingRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.post('/deep-linking/return', renderRefusedPages, async (ctx) => {
    const { JWT: jwt = '' } = readParameters(ctx);
    try {
      const outcome = await acceptDeepLinking(platform, jwt);
      tell(platform, true, summaryOf(outcome), jwt);
      sendHtml(ctx, deepLinkedPage(outcome));
    } catch (error) {
      if (error instanceof Refusal) tell(platform, false, error.message, jwt);
      throw error;
    }
  });
  return router;
}

function summaryOf({ links, errorMessage }: DeepLinkingOutcome): string {
  if (errorMessage !== null) return `error: ${errorMessage}`;
  return links.length === 0 ? 'nothing chosen' : links.map(({ title }) => title).join(', ');
}

function tell({ journal }: Platform, accepted: boolean, summary: string, jwt: string): void {
  journal.tell({ kind: 'deep linking response', accepted, summary, content: jwt });
}
