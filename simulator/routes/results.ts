import type Router from '@koa/router';
import { requireAccess, requireLineItem, sendPage } from '../access.ts';
import { createRouter, applyFaults, renderRejections } from '../http.ts';
import type { RequestState } from '../http.ts';
import { lineItemUrlOf, currentScores, gradeOf } from '../line-items.ts';
import type { LineItem, Score } from '../model.ts';
import type { Platform } from '../platform.ts';
import { withPathSuffix } from '../urls.ts';
import { mediaType, scope } from '../vocabulary.ts';

/** Results of AGS: the grades that follow from the scores. */
export function resultRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter('/services/:course/lineitems/:id/lineitem/results');
  const guard = [applyFaults(platform, 'results'), renderRejections(platform, 'results')] as const;

  router.get(['/', '/:user'], ...guard, (ctx) => {
    const tool = requireAccess(ctx, platform, scope.resultReadonly);
    const item = requireLineItem(ctx, platform, tool);
    const user = (ctx.params as { user?: string }).user ?? ctx.query.user_id;
    const results = [...currentScores(platform, item.id).values()]
      .filter(({ userId }) => user === undefined || userId === user)
      .map((score) => resultOf(platform, item, score));
    sendPage(ctx, platform, mediaType.results, results);
  });

  return router;
}

function resultOf(platform: Platform, item: LineItem, score: Score) {
  const scoreOf = lineItemUrlOf(platform, item);
  const resultScore = gradeOf(item, score);
  return {
    id: withPathSuffix(scoreOf, `/results/${encodeURIComponent(score.userId)}`),
    scoreOf,
    userId: score.userId,
    ...(resultScore !== null && { resultScore, resultMaximum: item.scoreMaximum }),
    ...(score.comment !== null && { comment: score.comment }),
  };
}
