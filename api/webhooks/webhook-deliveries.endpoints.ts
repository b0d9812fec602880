import { resendDeliveries, findDelivery, listDeliveries } from '../../shared/models/delivery-list.ts';
import type { Database } from '../../shared/models/database.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import {
  requireWebhook,
  testWebhook,
  tooManyWaiting,
  webhookNotFound,
} from '../../shared/webhooks/manage.ts';
import { apiAccess } from '../accounts/access.ts';
import { replay, replayBody, replayDescription, replayed } from '../deliveries/receivers.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import { failure, json } from '../http/responses.ts';
import * as example from './examples.ts';
import { deliveryBody, deliveryPage, presentDelivery } from './present-webhook.ts';
import { actionOf, common, notFound } from './webhook-endpoint.ts';
import { cursorAfter, deliveriesQuery, deliveryParams, webhookParams } from './webhook-requests.ts';

const deliveryNotFoundText = 'Delivery not found';
const deliveryNotFound = failure(
  'There is no such webhook or delivery, or it belongs to another organization.',
  webhookNotFound,
  deliveryNotFoundText,
);
const queued = json('The delivery is queued.', deliveryBody, { queued: { value: example.queuedDelivery } });

/** POST /api/webhooks/{webhookId}/test */
export const testWebhookEndpoint = defineEndpoint(
  {
    ...actionOf('test'),
    access: apiAccess,
    idempotent: true,
    audit: 'webhook.test',
    operationId: 'testWebhook',
    summary: 'Send a ping to a webhook',
    description: 'Queues a `ping`, even if the webhook has no subscription for it or is disabled.',
    responses: {
      202: queued,
      404: notFound,
      409: failure('Too many deliveries of the organization wait.', tooManyWaiting),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params, newId: pingId }) => {
      const organizationId = caller.organization._id;
      const id = await testWebhook(db, { id: params.webhookId, organizationId }, { pingId });
      return {
        status: 202,
        body: await readDelivery(db, { organizationId, targetId: params.webhookId }, id),
      };
    },
);

/** POST /api/webhooks/{webhookId}/replay */
export const replayWebhook = defineEndpoint(
  {
    ...actionOf('replay'),
    access: apiAccess,
    audit: 'webhook.replay',
    operationId: 'replayWebhook',
    summary: 'Send deliveries again',
    description: replayDescription,
    body: replayBody,
    responses: { 202: replayed, 404: notFound },
  },
  (deps: { db: Database; rateLimits: Pick<RateLimits, 'replays'> }) =>
    async ({ ctx, caller, params: { webhookId: id }, readBody }) => {
      const period = await readBody();
      const organizationId = caller.organization._id;
      await requireWebhook(deps.db, { id, organizationId });
      return replay(deps, ctx, { organizationId, targetId: id }, period);
    },
);

/** GET /api/webhooks/{webhookId}/deliveries */
export const listWebhookDeliveries = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/webhooks/:webhookId/deliveries',
    access: apiAccess,
    params: webhookParams,
    query: deliveriesQuery,
    audit: 'delivery.read',
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook',
    description: 'The newest first, with their attempts. Follow `nextCursor` until it is null.',
    responses: {
      200: json('A page of deliveries.', deliveryPage, {
        one: { value: { deliveries: [example.delivery], nextCursor: null } },
      }),
      404: notFound,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params, query }) => {
      const organizationId = caller.organization._id;
      await requireWebhook(db, { id: params.webhookId, organizationId });
      const { status, limit, cursor = null } = query;
      const selection = { organizationId, targetId: params.webhookId, status };
      const found = await listDeliveries(db, selection, { after: cursor, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : undefined;
      const nextCursor = last === undefined ? null : cursorAfter(last);
      return { status: 200, body: { deliveries: shown.map(presentDelivery), nextCursor } };
    },
);

/** POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/resend */
export const resendWebhookDelivery = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/webhooks/:webhookId/deliveries/:deliveryId/resend',
    access: apiAccess,
    params: deliveryParams,
    audit: 'delivery.resend',
    operationId: 'resendWebhookDelivery',
    summary: 'Send a delivery again',
    description: 'Queues one delivery again under its existing id, in any status.',
    responses: { 202: queued, 404: deliveryNotFound },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      const organizationId = caller.organization._id;
      const selection = { organizationId, targetId: params.webhookId };
      await requireWebhook(db, { id: params.webhookId, organizationId });
      await resendDeliveries(db, selection, { ids: [params.deliveryId] });
      return { status: 202, body: await readDelivery(db, selection, params.deliveryId) };
    },
);

async function readDelivery(
  db: Database,
  selection: { organizationId: string; targetId: string },
  id: string,
) {
  const delivery = await findDelivery(db, selection, id);
  if (delivery === null) throw new LecternError('NOT_FOUND', deliveryNotFoundText);
  return presentDelivery(delivery);
}
