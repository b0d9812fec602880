import type { Context } from 'koa';
import { z } from 'zod';
import { resendDeliveries, findDelivery, listDeliveries } from '../../shared/models/event-delivery.ts';
import type { Database } from '../../shared/models/database.ts';
import { listWebhooks } from '../../shared/models/webhook.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import {
  changeWebhook,
  createWebhook,
  maxWebhooks,
  removeWebhook,
  requireWebhook,
  rotateWebhookSecret,
  testWebhook,
  tooManyWebhooks,
  webhookNotFound,
} from '../../shared/webhooks/manage.ts';
import { receiverUrlFault } from '../../shared/webhooks/receiver-url.ts';
import { credentials } from '../accounts/access.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { noStore } from '../http/headers.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { parseRequest } from '../http/parse-request.ts';
import { count, empty, failure, json } from '../http/responses.ts';
import * as example from './examples.ts';
import {
  createdWebhook,
  deliveryBody,
  deliveryPage,
  presentDelivery,
  presentWebhook,
  rotatedSecret,
  webhookBody,
  webhookList,
} from './present-webhook.ts';
import {
  changeWebhookSchema,
  createWebhookSchema,
  cursorAfter,
  deliveriesQuery,
  deliveryParams,
  replaySchema,
  requestFaults,
  rotateSchema,
  webhookParams,
} from './webhook-requests.ts';

/** Endpoints of one path share their access. */
const access = { list: credentials(), one: credentials() };
const common = { errors: apiErrors(), invalid: 'INVALID_CONTENT', tag: 'Webhooks' } as const;
const notFound = failure('There is no such webhook, or it belongs to another organization.', webhookNotFound);
const deliveryNotFoundText = 'Delivery not found';
const deliveryNotFound = failure(
  'There is no such webhook or delivery, or it belongs to another organization.',
  webhookNotFound,
  deliveryNotFoundText,
);
const urlFaults = ['url must be an https URL', 'url must begin with https://'];

interface WebhookDependencies {
  db: Database;
  config: Pick<Config, 'download' | 'isLocal'>;
  secrets: Pick<Secrets, 'keyPepper'>;
}

function bodyOf<Schema extends z.ZodType>(
  schema: Schema,
  examples: Parameters<typeof jsonBody>[0]['examples'],
  faults: readonly string[] = [],
) {
  return jsonBody({
    maxBytes: 64 * 1024,
    description: 'Unknown fields are rejected.',
    schema,
    parse: (text): z.output<Schema> => parseRequest(schema, JSON.parse(text), 'INVALID_CONTENT'),
    faults: [...requestFaults, ...faults],
    examples,
  });
}

function assertReceiver(url: string | undefined, config: WebhookDependencies['config']): void {
  const fault = url === undefined ? null : receiverUrlFault(url, config);
  if (fault !== null) throw new LecternError('INVALID_CONTENT', fault);
}

/** POST /api/webhooks */
export const createWebhookEndpoint = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/webhooks',
    access: access.list,
    operationId: 'createWebhook',
    summary: 'Create a webhook',
    description:
      `Sends the organization's events to a URL, signed as Standard Webhooks. It gets every event that occurs after ` +
      `the response. An organization has at most ${maxWebhooks} webhooks.`,
    body: bodyOf(createWebhookSchema, { progress: { value: example.webhookRequest } }, urlFaults),
    responses: {
      201: json(
        'The webhook, with the secret that signs its deliveries.',
        createdWebhook,
        { created: { value: { ...example.webhook, secret: example.secret } } },
        noStore,
      ),
      409: failure('The organization has too many webhooks.', tooManyWebhooks),
    },
  },
  ({ db, config, secrets }: WebhookDependencies) =>
    async ({ caller, readBody }) => {
      const { events, ...rest } = await readBody();
      assertReceiver(rest.url, config);
      const organizationId = caller.organization._id;
      const settings = { ...rest, types: events };
      const { webhook, secret } = await createWebhook(db, secrets.keyPepper, organizationId, settings);
      return { status: 201, body: { ...presentWebhook(webhook), secret } };
    },
);

/** GET /api/webhooks */
export const listWebhooksEndpoint = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/webhooks',
    access: access.list,
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    description: 'All webhooks of the organization, the oldest first.',
    responses: {
      200: json('The webhooks.', webhookList, { one: { value: { webhooks: [example.webhook] } } }),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller }) => {
      const webhooks = await listWebhooks(db, [caller.organization._id]);
      return { status: 200, body: { webhooks: webhooks.map(presentWebhook) } };
    },
);

const ofOne = {
  ...common,
  path: '/api/webhooks/:webhookId',
  access: access.one,
  params: webhookParams,
} as const;

/** GET /api/webhooks/{webhookId} */
export const getWebhook = defineEndpoint(
  {
    ...ofOne,
    method: 'get',
    operationId: 'getWebhook',
    summary: 'Read a webhook',
    responses: {
      200: json('The webhook.', webhookBody, { active: { value: example.webhook } }),
      404: notFound,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      const webhook = await requireWebhook(db, {
        id: params.webhookId,
        organizationId: caller.organization._id,
      });
      return { status: 200, body: presentWebhook(webhook) };
    },
);

/** PATCH /api/webhooks/{webhookId} */
export const changeWebhookEndpoint = defineEndpoint(
  {
    ...ofOne,
    method: 'patch',
    operationId: 'changeWebhook',
    summary: 'Change a webhook',
    description:
      'Changes the given fields. While a webhook is disabled, no events are kept for it. Deliveries that failed ' +
      'meanwhile can be sent again.',
    body: bodyOf(
      changeWebhookSchema,
      { again: { summary: 'Start a disabled webhook again', value: { status: 'active' } } },
      urlFaults,
    ),
    responses: {
      200: json('The webhook.', webhookBody, { active: { value: example.webhook } }),
      404: notFound,
    },
  },
  ({ db, config }: WebhookDependencies) =>
    async ({ caller, params, readBody }) => {
      const { url, description, events, status } = await readBody();
      assertReceiver(url, config);
      const changed = await changeWebhook(
        db,
        { id: params.webhookId, organizationId: caller.organization._id },
        {
          ...(url !== undefined && { url }),
          ...(description !== undefined && { description }),
          ...(events !== undefined && { types: events }),
          ...(status !== undefined && { isActive: status === 'active' }),
        },
      );
      return { status: 200, body: presentWebhook(changed) };
    },
);

/** DELETE /api/webhooks/{webhookId} */
export const deleteWebhookEndpoint = defineEndpoint(
  {
    ...ofOne,
    method: 'delete',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deletes it with its deliveries. Waiting ones are not sent.',
    responses: { 204: empty('It is deleted.'), 404: notFound },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      await removeWebhook(db, { id: params.webhookId, organizationId: caller.organization._id });
      return { status: 204 };
    },
);

const actionOf = (name: string) =>
  ({ ...common, method: 'post', path: `/api/webhooks/:webhookId/${name}`, params: webhookParams }) as const;

/** POST /api/webhooks/{webhookId}/rotate */
export const rotateWebhook = defineEndpoint(
  {
    ...actionOf('rotate'),
    access: credentials(),
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the secret of a webhook',
    description:
      'Returns a new secret. The previous one also signs until it expires, so that receivers can change without ' +
      'losing a delivery. A second rotation ends the overlap of the first.',
    body: bodyOf(rotateSchema, {
      anHour: { summary: 'An hour of overlap', value: { overlapSeconds: 3600 } },
    }),
    responses: {
      200: json(
        'The secret.',
        rotatedSecret,
        {
          rotated: {
            value: {
              id: example.webhook.id,
              secret: example.secret,
              previousSecretExpiresAt: '2026-11-22T09:14:31.027Z',
            },
          },
        },
        noStore,
      ),
      404: notFound,
    },
  },
  ({ db, secrets }: WebhookDependencies) =>
    async ({ ctx, caller, params, readBody }) => {
      const { overlapSeconds } = hasBody(ctx) ? await readBody() : rotateSchema.parse({});
      const key = { id: params.webhookId, organizationId: caller.organization._id };
      const { webhook, secret } = await rotateWebhookSecret(db, secrets.keyPepper, key, overlapSeconds);
      const previousSecretExpiresAt = webhook.previousSecretUntil?.toISOString() ?? '';
      return { status: 200, body: { id: webhook._id, secret, previousSecretExpiresAt } };
    },
);

/** Clients may omit a body whose fields all have defaults. */
function hasBody(ctx: Pick<Context, 'get'>): boolean {
  return ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length')) > 0;
}

const queued = json('The delivery is queued.', deliveryBody, { queued: { value: example.queuedDelivery } });

/** POST /api/webhooks/{webhookId}/test */
export const testWebhookEndpoint = defineEndpoint(
  {
    ...actionOf('test'),
    access: credentials(),
    operationId: 'testWebhook',
    summary: 'Send a ping to a webhook',
    description: 'Queues a `ping`, even if the webhook has no subscription for it or is disabled.',
    responses: { 202: queued, 404: notFound },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      const organizationId = caller.organization._id;
      const id = await testWebhook(db, { id: params.webhookId, organizationId });
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
    access: credentials(),
    operationId: 'replayWebhook',
    summary: 'Send deliveries again',
    description:
      'Queues the deliveries of a period again, under their existing ids. Lectern keeps delivered ones for 7 days and ' +
      'failed ones for 30 days.',
    body: bodyOf(replaySchema, {
      failed: {
        summary: 'Failed deliveries since a time',
        value: { since: '2026-11-21T09:00:00.000Z', status: 'failed' },
      },
    }),
    responses: {
      202: json(
        'How many deliveries are queued.',
        z.strictObject({ count }).meta({ id: 'ReplayedDeliveries' }),
        { some: { value: { count: 42 } } },
      ),
      404: notFound,
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params, readBody }) => {
      const { since, until = new Date(), status } = await readBody();
      const organizationId = caller.organization._id;
      await requireWebhook(db, { id: params.webhookId, organizationId });
      const selection = { organizationId, targetId: params.webhookId, status };
      return { status: 202, body: { count: await resendDeliveries(db, selection, { since, until }) } };
    },
);

/** GET /api/webhooks/{webhookId}/deliveries */
export const listWebhookDeliveries = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/webhooks/:webhookId/deliveries',
    access: credentials(),
    params: webhookParams,
    query: deliveriesQuery,
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
    access: credentials(),
    params: deliveryParams,
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

/** In the order in which requests match them. */
export const webhookEndpoints = [
  testWebhookEndpoint,
  rotateWebhook,
  replayWebhook,
  resendWebhookDelivery,
  listWebhookDeliveries,
  getWebhook,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  createWebhookEndpoint,
  listWebhooksEndpoint,
] as const;
