import { z } from 'zod';
import { subscribableEvents } from '../../shared/events/event-types.ts';
import { maxUrlLength } from '../../shared/webhooks/receiver-url.ts';
import { deliveryStatus } from '../deliveries/receivers.ts';
import { unknownParameter } from '../http/endpoint.ts';
import { cursorDescription, pageCursor, pageLimit, toPageCursor } from '../http/pagination.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';

/* What requests about webhooks may contain. */

export const webhookParams = z.object({
  webhookId: z.guid('Invalid webhook ID format').toLowerCase().meta({ description: 'Id of the webhook.' }),
});

export const deliveryParams = webhookParams.extend({
  deliveryId: z
    .string('Invalid delivery ID format')
    .regex(/^evt_[0-9a-f-]{36}$/, 'Invalid delivery ID format')
    .meta({ description: 'Id of the delivery.' }),
});

const eventsFault = `events must be a list of 1 to ${subscribableEvents.length} event types`;
const settings = {
  url: z
    .string('url is required')
    .min(1, 'url is required')
    .max(maxUrlLength, `url must be at most ${maxUrlLength} characters`)
    .meta({ description: 'An https URL. Its host must be public.' }),
  events: z
    .array(
      z.enum(subscribableEvents, { error: ({ input }) => `events has no type ${JSON.stringify(input)}` }),
      eventsFault,
    )
    .min(1, eventsFault)
    .max(subscribableEvents.length, eventsFault)
    .transform((types) => [...new Set(types)])
    .meta({ description: 'The event types that it gets.' }),
  description: z
    .string('description must be a text')
    .max(500, 'description must be at most 500 characters')
    .meta({ description: 'A note about its purpose.' }),
};

export const createWebhookSchema = z.strictObject(
  { ...settings, description: settings.description.default('') },
  { error: objectFault },
);

export const changeWebhookSchema = z.strictObject(
  {
    url: settings.url.optional(),
    events: settings.events.optional(),
    description: settings.description.optional(),
    status: z
      .enum(['active', 'disabled'], 'status must be active or disabled')
      .optional()
      .meta({ description: '`active` starts a disabled webhook again, even if Lectern disabled it.' }),
  },
  { error: objectFault },
);

const maxOverlapSeconds = 7 * 86_400;
const overlapFault = `overlapSeconds must be an integer between 0 and ${maxOverlapSeconds}`;

export const rotateSchema = z.strictObject(
  {
    overlapSeconds: z
      .int(overlapFault)
      .min(0, overlapFault)
      .max(maxOverlapSeconds, overlapFault)
      .default(86_400)
      .meta({ description: 'How long the previous secret also signs.' }),
  },
  { error: objectFault },
);

export const deliveriesQuery = z.strictObject(
  {
    status: deliveryStatus.optional().meta({ description: 'Only deliveries with this status.' }),
    limit: pageLimit('deliveries'),
    cursor: pageCursor
      .transform(({ createdAt, id }) => ({ createdAt, _id: deliveryPrefix + id }))
      .optional()
      .meta({ description: cursorDescription }),
  },
  { error: unknownParameter },
);

const deliveryPrefix = 'evt_';

/** Returns the cursor of the page after a delivery. */
export function cursorAfter({ createdAt, _id }: { createdAt: Date; _id: string }): string {
  return toPageCursor({ createdAt, id: _id.slice(deliveryPrefix.length) });
}
