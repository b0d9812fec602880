import type { Context } from './http.ts';
import type { LineItem, Tool } from './model.ts';
import type { Platform } from './platform.ts';
import { lineItemQuery } from './line-items.ts';
import { Refusal } from './http.ts';

/**
 * The tool whose access token a request carries.
 *
 * @param scopes any of which will do
 * @throws {Refusal} 401 without a token that is good, 403 with one of other scopes
 */
export function requireAccess(ctx: Context, platform: Platform, ...scopes: string[]): Tool {
  const [, token = ''] = /^Bearer ([\w-]+)$/i.exec(ctx.get('authorization')) ?? [];
  const access = platform.accessTokens.get(token);
  const tool = platform.tools.get(access?.clientId ?? '');
  if (access === undefined || tool === undefined) {
    throw new Refusal(401, 'invalid_token', 'The access token is missing, unknown or expired.');
  }
  if (!scopes.some((scope) => access.scopes.includes(scope))) {
    throw new Refusal(403, 'insufficient_scope', `The access token needs the scope ${scopes.join(' or ')}.`);
  }
  return tool;
}

/**
 * The line item at the address of a request.
 *
 * @throws {Refusal} 404 where there is none of this tool, or where the address is not the whole one
 */
export function requireLineItem(ctx: Context, platform: Platform, tool: Tool): LineItem {
  requireQuery(ctx, platform, tool);
  const { course = '', id = '' } = ctx.params as Record<string, string>;
  const lineItem = platform.lineItems.get(id);
  if (lineItem?.courseId !== course || lineItem.clientId !== tool.clientId) {
    throw new Refusal(404, 'not_found', 'There is no such line item.');
  }
  return lineItem;
}

/** An address is to be used as it was given, with its query. @throws {Refusal} 404 */
export function requireQuery(ctx: Context, platform: Platform, { clientId }: Tool): void {
  const expected = lineItemQuery(platform, clientId);
  if (expected === '') return;
  const { type_id: typeId } = ctx.query;
  if (typeId === undefined && platform.settings.lineItemQuery === 'optional') return;
  if (`?type_id=${String(typeId)}` !== expected) {
    throw new Refusal(404, 'not_found', `The address has to have the query ${expected}, as it was given.`);
  }
}

/** @throws {Refusal} 415 where the body is of another type. */
export function requireType(ctx: Context, type: string): void {
  const [given = ''] = ctx.get('content-type').split(';');
  if (given.trim().toLowerCase() !== type) {
    throw new Refusal(415, 'unsupported_media_type', `Content-Type has to be ${type}.`);
  }
}

/** Sends JSON under a type of its own. @throws {Refusal} 406 where the client takes none. */
export function sendAs(ctx: Context, type: string, body: unknown): void {
  if (ctx.get('accept') !== '' && ctx.accepts(type) === false) {
    throw new Refusal(406, 'not_acceptable', `Accept has to allow ${type}.`);
  }
  ctx.body = JSON.stringify(body);
  ctx.type = type;
}
