import type { Context } from './http.ts';
import type { LineItem, Tool } from './model.ts';
import type { Platform } from './platform.ts';
import { lineItemQuery } from './line-items.ts';
import { Rejection } from './http.ts';

/**
 * Returns the tool that a request's access token belongs to.
 *
 * @param scopes the token must have at least one of them
 * @throws {Rejection} 401 without a valid token, 403 with one for other scopes
 */
export function requireAccess(ctx: Context, platform: Platform, ...scopes: string[]): Tool {
  const [, token = ''] = /^Bearer ([\w-]+)$/i.exec(ctx.get('authorization')) ?? [];
  const access = platform.accessTokens.get(token);
  const tool = platform.tools.get(access?.clientId ?? '');
  if (access === undefined || tool === undefined) {
    throw new Rejection(401, 'invalid_token', 'The access token is missing, unknown or expired.');
  }
  if (!scopes.some((scope) => access.scopes.includes(scope))) {
    throw new Rejection(
      403,
      'insufficient_scope',
      `The access token needs the scope ${scopes.join(' or ')}.`,
    );
  }
  return tool;
}

/**
 * Returns the line item that a request's URL names.
 *
 * @throws {Rejection} 404 if the tool has no such line item, or the URL lacks its query
 */
export function requireLineItem(ctx: Context, platform: Platform, tool: Tool): LineItem {
  requireQuery(ctx, platform, tool);
  const { course = '', id = '' } = ctx.params as Record<string, string>;
  const lineItem = platform.lineItems.get(id);
  if (lineItem?.courseId !== course || lineItem.clientId !== tool.clientId) {
    throw new Rejection(404, 'not_found', 'There is no such line item.');
  }
  return lineItem;
}

/** Checks that the tool uses a URL with the query that it got. @throws {Rejection} 404 */
export function requireQuery(ctx: Context, platform: Platform, { clientId }: Tool): void {
  const expected = lineItemQuery(platform, clientId);
  const { type_id: typeId } = ctx.query;
  if (typeId === undefined && platform.settings.lineItemQuery === 'optional') return;
  if (`?type_id=${String(typeId)}` !== expected) {
    throw new Rejection(
      404,
      'not_found',
      `The URL must have the query ${expected}, as the platform gave it.`,
    );
  }
}

/** @throws {Rejection} 415 if the body has another type */
export function requireType(ctx: Context, type: string): void {
  const [given = ''] = ctx.get('content-type').split(';');
  if (given.trim().toLowerCase() !== type) {
    throw new Rejection(415, 'unsupported_media_type', `Content-Type must be ${type}.`);
  }
}

/** Sends JSON with a media type. @throws {Rejection} 406 if the client does not accept it */
export function sendAs(ctx: Context, type: string, body: unknown): void {
  if (ctx.get('accept') !== '' && ctx.accepts(type) === false) {
    throw new Rejection(406, 'not_acceptable', `Accept must allow ${type}.`);
  }
  ctx.body = JSON.stringify(body);
  ctx.type = type;
}

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
