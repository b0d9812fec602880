import type { Context } from 'koa';
import type { Database } from '../../shared/models/database.ts';
import { listWebhooks } from '../../shared/models/webhook.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import {
  changeWebhook,
  createWebhook,
  maxWebhooks,
  removeWebhook,
  requireWebhook,
  rotatedMeanwhile,
  rotateWebhookSecret,
  tooManyWebhooks,
} from '../../shared/webhooks/manage.ts';
import { receiverUrlFault } from '../../shared/webhooks/receiver-url.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { noStore } from '../http/headers.ts';
import { empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import * as example from './examples.ts';
import {
  createdWebhook,
  presentWebhook,
  rotatedSecret,
  webhookBody,
  webhookList,
} from './present-webhook.ts';
import {
  listWebhookDeliveries,
  replayWebhook,
  resendWebhookDelivery,
  testWebhookEndpoint,
} from './webhook-deliveries.endpoints.ts';
import { actionOf, common, notFound } from './webhook-endpoint.ts';
import type { WebhookDependencies } from './webhook-endpoint.ts';
import { changeWebhookSchema, createWebhookSchema, rotateSchema, webhookParams } from './webhook-requests.ts';

const urlFaults = ['url must be an https URL', 'url must begin with https://'];

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
    access: apiAccess,
    audit: 'webhook.create',
    idempotent: true,
    operationId: 'createWebhook',
    summary: 'Create a webhook',
    description:
      `Sends the organization's events to a URL, signed as Standard Webhooks. It gets every event that occurs after ` +
      `the response. An organization has at most ${maxWebhooks} webhooks.`,
    body: strictBody(createWebhookSchema, { progress: { value: example.webhookRequest } }, urlFaults),
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
    async ({ caller, readBody, newId }) => {
      const { events, ...rest } = await readBody();
      assertReceiver(rest.url, config);
      const organizationId = caller.organization._id;
      const settings = { ...rest, types: events };
      const { webhook, secret } = await createWebhook(db, secrets.keyPepper, organizationId, settings, newId);
      return { status: 201, body: { ...presentWebhook(webhook), secret } };
    },
);

/** GET /api/webhooks */
export const listWebhooksEndpoint = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/webhooks',
    access: apiAccess,
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
  access: apiAccess,
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
    audit: 'webhook.change',
    operationId: 'changeWebhook',
    summary: 'Change a webhook',
    description:
      'Changes the given fields. While a webhook is disabled, no events are kept for it. Deliveries that failed ' +
      'meanwhile can be sent again.',
    body: strictBody(
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
    audit: 'webhook.delete',
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

const givenRotateBody = strictBody(rotateSchema, {
  anHour: { summary: 'An hour of overlap', value: { overlapSeconds: 3600 } },
});
/** Clients may omit it: its fields have defaults. */
const rotateBody = {
  ...givenRotateBody,
  read: async (ctx: Context) =>
    (hasBody(ctx) ? givenRotateBody.read?.(ctx) : undefined) ?? rotateSchema.parse({}),
};

/** POST /api/webhooks/{webhookId}/rotate */
export const rotateWebhook = defineEndpoint(
  {
    ...actionOf('rotate'),
    access: apiAccess,
    audit: 'webhook.rotate',
    idempotent: true,
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the secret of a webhook',
    description:
      'Returns a new secret. The previous one also signs until it expires, so that receivers can change without ' +
      'losing a delivery. A second rotation ends the overlap of the first.',
    body: rotateBody,
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
      409: failure('A concurrent rotation was first.', rotatedMeanwhile),
    },
  },
  ({ db, secrets }: WebhookDependencies) =>
    async ({ caller, params, readBody, newId }) => {
      const { overlapSeconds } = await readBody();
      const key = { id: params.webhookId, organizationId: caller.organization._id };
      const { webhook, secret } = await rotateWebhookSecret(
        db,
        secrets.keyPepper,
        key,
        overlapSeconds,
        newId,
      );
      const previousSecretExpiresAt = webhook.previousSecretUntil?.toISOString() ?? '';
      return { status: 200, body: { id: webhook._id, secret, previousSecretExpiresAt } };
    },
);

function hasBody(ctx: Pick<Context, 'get'>): boolean {
  return ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length')) > 0;
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
