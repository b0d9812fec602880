import { z } from 'zod';
import { subscribableEvents } from '../../shared/events/event-types.ts';
import { deliveryStatuses, statusOfDelivery } from '../../shared/models/delivery-list.ts';
import type { EventDelivery } from '../../shared/models/event-delivery.ts';
import { disabledReasons } from '../../shared/models/webhook.ts';
import type { Webhook } from '../../shared/models/webhook.ts';
import { missedEvents, presentMissed } from '../deliveries/receivers.ts';
import { time, uuid } from '../http/responses.ts';

export const webhookBody = z
  .strictObject({
    id: uuid,
    url: z.string(),
    events: z.array(z.enum(subscribableEvents)),
    description: z.string(),
    status: z.enum(['active', 'disabled']),
    disabledReason: z
      .enum(disabledReasons)
      .optional()
      .meta({
        description:
          'Why the webhook is disabled: its owner disabled it, its receiver returned 410 (`gone`), or it failed for three ' +
          'days (`failing`). Missing for an active webhook.',
      }),
    failingSince: time.optional().meta({
      description: 'Since when every attempt has failed. Missing after a success.',
    }),
    missedEvents: missedEvents.optional(),
    createdAt: time,
  })
  .meta({ id: 'Webhook' });

const secret = z
  .string()
  .regex(/^whsec_/)
  .meta({
    description: 'Signs deliveries (Standard Webhooks). Store it: no other response shows it.',
  });

export const createdWebhook = webhookBody.extend({ secret }).meta({ id: 'CreatedWebhook' });

export const webhookList = z.strictObject({ webhooks: z.array(webhookBody) }).meta({ id: 'WebhookList' });

export const rotatedSecret = z
  .strictObject({
    id: uuid,
    secret,
    previousSecretExpiresAt: time.meta({ description: 'Until then, both secrets sign each delivery.' }),
  })
  .meta({ id: 'RotatedSecret' });

export const deliveryBody = z
  .strictObject({
    id: z.string().meta({ description: 'The `webhook-id` of each attempt.' }),
    type: z.string(),
    status: z.enum(deliveryStatuses),
    attempts: z
      .array(
        z.strictObject({
          at: time,
          milliseconds: z.int().min(0),
          status: z.int().nullable().meta({ description: 'The status of the response; null without one.' }),
          error: z.string().nullable().meta({ description: 'Why it failed; null after a success.' }),
          response: z
            .string()
            .nullable()
            .meta({ description: 'The first 4 kB of the response; null without one.' }),
        }),
      )
      .meta({ description: 'The last 20 attempts, the oldest first.' }),
  })
  .meta({ id: 'WebhookDelivery' });

export const deliveryPage = z
  .strictObject({
    deliveries: z.array(deliveryBody),
    nextCursor: z.string().nullable().meta({ description: 'The cursor of the next page; null on the last.' }),
  })
  .meta({ id: 'WebhookDeliveryPage' });

export function presentWebhook(webhook: Webhook): z.input<typeof webhookBody> {
  const { _id, url, types, description, disabled, failingSince, missed, createdAt } = webhook;
  return {
    id: _id,
    url,
    events: types.filter((type) => type !== 'ping'),
    description,
    status: disabled === null ? 'active' : 'disabled',
    ...(disabled !== null && { disabledReason: disabled.reason }),
    ...(failingSince !== null && { failingSince: failingSince.toISOString() }),
    ...(missed !== null && { missedEvents: presentMissed(missed) }),
    createdAt: createdAt.toISOString(),
  };
}

export function presentDelivery(delivery: EventDelivery): z.input<typeof deliveryBody> {
  const { _id, type, attempts } = delivery;
  return {
    id: _id,
    type,
    status: statusOfDelivery(delivery),
    attempts: attempts.map(({ at, milliseconds, status, error, response }) => ({
      at: at.toISOString(),
      ...{ milliseconds, status, error, response },
    })),
  };
}
