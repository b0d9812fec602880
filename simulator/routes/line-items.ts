import type Router from '@koa/router';
import { z } from 'zod';
import { requireAccess, requireLineItem, requireQuery, requireType, sendAs, sendPage } from '../access.ts';
import { createRouter, applyFaults, readJson, Rejection, renderRejections } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import { addLineItem, lineItemUrlOf } from '../line-items.ts';
import type { LineItem, Tool } from '../model.ts';
import type { Platform } from '../platform.ts';
import { mediaType, scope } from '../vocabulary.ts';

const time = z.iso.datetime({ offset: true });

const lineItemSchema = z.object({
  label: z.string().trim().min(1),
  scoreMaximum: z.number().positive(),
  resourceId: z.string().optional(),
  tag: z.string().optional(),
  startDateTime: time.optional(),
  endDateTime: time.optional(),
});

const newLineItem = lineItemSchema.extend({ resourceLinkId: z.string().optional() });

/** Line items of AGS: a tool's columns in a course's gradebook. */
export function lineItemRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter('/services/:course/lineitems');
  const guard = [applyFaults(platform, 'lineitems'), renderRejections(platform, 'line item')] as const;

  router.get('/', ...guard, (ctx) => {
    const tool = requireAccess(ctx, platform, scope.lineItem, scope.lineItemReadonly);
    requireQuery(ctx, platform, tool);
    const items = listLineItems(ctx, platform, tool).map((item) => present(platform, item));
    sendPage(ctx, platform, mediaType.lineItems, items);
  });

  router.post('/', ...guard, (ctx) => {
    const tool = requireAccess(ctx, platform, scope.lineItem);
    requireQuery(ctx, platform, tool);
    const item = createLineItem(ctx, platform, tool);
    logMessage(platform, `created "${item.label}"`, item);
    ctx.status = 201;
    sendAs(ctx, mediaType.lineItem, present(platform, item));
  });

  router.get('/:id/lineitem', ...guard, (ctx) => {
    const tool = requireAccess(ctx, platform, scope.lineItem, scope.lineItemReadonly);
    const item = requireLineItem(ctx, platform, tool);
    sendAs(ctx, mediaType.lineItem, present(platform, item));
  });

  router.put('/:id/lineitem', ...guard, (ctx) => {
    const tool = requireAccess(ctx, platform, scope.lineItem);
    const { id, courseId, clientId, linkId } = requireLineItem(ctx, platform, tool);
    // Tools cannot move a line item to another course or link.
    const item = { ...parse(ctx, lineItemSchema), id, courseId, clientId, linkId };
    platform.lineItems.set(id, item);
    logMessage(platform, `changed "${item.label}"`, item);
    sendAs(ctx, mediaType.lineItem, present(platform, item));
  });

  router.delete('/:id/lineitem', ...guard, (ctx) => {
    const tool = requireAccess(ctx, platform, scope.lineItem);
    const item = requireLineItem(ctx, platform, tool);
    platform.lineItems.delete(item.id);
    logMessage(platform, `removed "${item.label}"`, item);
    ctx.status = 204;
  });

  return router;
}

function listLineItems(ctx: Context, { lineItems }: Platform, tool: Tool): LineItem[] {
  const { course } = ctx.params as { course: string };
  const { resource_link_id: linkId, resource_id: resourceId, tag } = ctx.query;
  return [...lineItems.values()].filter(
    (item) =>
      item.courseId === course &&
      item.clientId === tool.clientId &&
      (linkId === undefined || item.linkId === linkId) &&
      (resourceId === undefined || item.resourceId === resourceId) &&
      (tag === undefined || item.tag === tag),
  );
}

function createLineItem(ctx: Context, platform: Platform, { clientId }: Tool): LineItem {
  const { course: courseId } = ctx.params as { course: string };
  if (!platform.courses.has(courseId)) throw new Rejection(404, 'not_found', 'There is no such course.');
  const { resourceLinkId, ...details } = parse(ctx, newLineItem);
  const link = platform.links.get(resourceLinkId ?? '');
  const isOwn = link?.courseId === courseId && link.clientId === clientId;
  if (resourceLinkId !== undefined && !isOwn) {
    throw new Rejection(404, 'not_found', 'The course has no link with this resourceLinkId.');
  }
  return addLineItem(platform, { courseId, clientId, linkId: resourceLinkId ?? null }, details);
}

function parse<T>(ctx: Context, schema: z.ZodType<T>): T {
  requireType(ctx, mediaType.lineItem);
  const parsed = schema.safeParse(readJson(ctx));
  if (!parsed.success) throw new Rejection(400, 'invalid_request', z.prettifyError(parsed.error));
  return parsed.data;
}

function present(platform: Platform, item: LineItem) {
  const { label, scoreMaximum, resourceId, tag, linkId, startDateTime, endDateTime } = item;
  return {
    id: lineItemUrlOf(platform, item),
    label,
    scoreMaximum,
    resourceId,
    tag,
    ...(linkId !== null && { resourceLinkId: linkId }),
    startDateTime,
    endDateTime,
  };
}

function logMessage({ journal }: Platform, summary: string, content: LineItem): void {
  journal.addMessage({ kind: 'line item', accepted: true, summary, content });
}
