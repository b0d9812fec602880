import { sendAs } from './access.ts';
import type { Context } from './http.ts';
import type { Platform } from './platform.ts';
import { Rejection } from './http.ts';

/**
 * Sends a list, or with `limit` one page of it and the URL of the next in a Link header (pagination).
 *
 * @throws {Rejection} 400 if `limit` or `page` is not a positive integer
 */
export function sendPage(ctx: Context, { urls }: Platform, type: string, items: readonly unknown[]): void {
  const limit = positiveInteger(ctx, 'limit', items.length || 1);
  const page = positiveInteger(ctx, 'page', 1);
  const end = page * limit;
  if (end < items.length) {
    const next = new URL(ctx.url, urls.url);
    next.searchParams.set('page', String(page + 1));
    ctx.set('Link', `<${next.href}>; rel="next"`);
  }
  sendAs(ctx, type, items.slice(end - limit, end));
}

function positiveInteger(ctx: Context, name: string, otherwise: number): number {
  const { [name]: text } = ctx.query;
  if (text === undefined) return otherwise;
  if (typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Rejection(400, 'invalid_request', `${name} must be a positive integer.`);
}
