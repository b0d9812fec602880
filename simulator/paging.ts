import { sendAs } from './access.ts';
import type { Context } from './http.ts';
import type { Platform } from './platform.ts';
import { Refusal } from './http.ts';

/**
 * Sends a list, or with `limit` a page of it, naming the next one in a Link header.
 *
 * @throws {Refusal} 400 where `limit` or `page` is no whole number above 0
 */
export function sendPage(
  ctx: Context,
  { addresses }: Platform,
  type: string,
  items: readonly unknown[],
): void {
  const limit = wholeNumber(ctx, 'limit', items.length || 1);
  const page = wholeNumber(ctx, 'page', 1);
  const end = page * limit;
  if (end < items.length) {
    const next = new URL(ctx.url, addresses.url);
    next.searchParams.set('page', String(page + 1));
    ctx.set('Link', `<${next.href}>; rel="next"`);
  }
  sendAs(ctx, type, items.slice(end - limit, end));
}

function wholeNumber(ctx: Context, name: string, otherwise: number): number {
  const { [name]: text } = ctx.query;
  if (text === undefined) return otherwise;
  if (typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Refusal(400, 'invalid_request', `${name} has to be a whole number above 0.`);
}
