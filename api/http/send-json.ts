import type { Context } from 'koa';
import { printJson } from '../../shared/platform/raw-json.ts';

/** Answers with a JSON object, some members of which may be raw. It belongs to one learner: nothing may store it. */
export function sendJson(ctx: Context, members: Record<string, unknown>): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'application/json';
  ctx.body = printJson(members);
}
