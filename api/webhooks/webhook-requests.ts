import { z } from 'zod';
import { subscribableEvents } from '../../shared/events/event-types.ts';
import { deliveryStatuses } from '../../shared/models/event-delivery.ts';
import { uuidFromHex } from '../../shared/platform/uuid.ts';
import { maxUrlLength } from '../../shared/webhooks/receiver-url.ts';

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
const bodyFault = 'Request body must be a JSON object';

/** Returns the error message for an unknown field or a body that is not an object. */
function objectFault(issue: { code?: string; keys?: string[] }): string {
  return issue.code === 'unrecognized_keys'
    ? `Request body has an unknown field "${issue.keys?.[0] ?? ''}"`
    : bodyFault;
}
export const requestFaults = ['Request body has an unknown field "secret"', bodyFault];

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

const timeOf = (name: string) =>
  z.iso
    .datetime({ offset: true, error: `${name} must be an ISO 8601 time with an offset, such as Z` })
    .transform((text) => new Date(text));

export const replaySchema = z.strictObject(
  {
    since: timeOf('since').meta({ description: 'Deliveries that were created at this time or later.' }),
    until: timeOf('until').optional().meta({ description: 'Only deliveries that were created before it.' }),
    status: z
      .enum(deliveryStatuses, `status must be one of ${deliveryStatuses.join(', ')}`)
      .optional()
      .meta({ description: 'Only deliveries with this status; without it, all.' }),
  },
  { error: objectFault },
);

const limitRule = 'limit must be a whole number between 1 and 100';
const cursorFault = 'cursor is not valid';
const timeDigits = 12;

export const deliveriesQuery = z.object({
  status: z
    .enum(deliveryStatuses, `status must be one of ${deliveryStatuses.join(', ')}`)
    .optional()
    .meta({ description: 'Only deliveries with this status.' }),
  limit: z
    .string(limitRule)
    .regex(/^\d{1,3}$/, limitRule)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= 100, limitRule)
    .default(50)
    .meta({
      description: 'The largest number of deliveries on a page.',
      override: { type: 'integer', pattern: undefined, minimum: 1, maximum: 100, default: 50 },
    }),
  cursor: z
    .string(cursorFault)
    .regex(/^[0-9a-f]{44}$/, cursorFault)
    .transform((text) => ({
      createdAt: new Date(Number.parseInt(text.slice(0, timeDigits), 16)),
      _id: `evt_${uuidFromHex(text.slice(timeDigits))}`,
    }))
    .optional()
    .meta({ description: 'The `nextCursor` of the previous page (pagination).' }),
});

/** Returns the cursor of the page after a delivery: its creation time in milliseconds and its id, in hex. */
export function cursorAfter({ createdAt, _id }: { createdAt: Date; _id: string }): string {
  const id = _id.slice('evt_'.length).replaceAll('-', '');
  return createdAt.getTime().toString(16).padStart(timeDigits, '0') + id;
}
