import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { eventDefinitions } from '../../shared/events/event-types.ts';
import type { EventType } from '../../shared/events/event-types.ts';
import { eventData, eventTime } from './examples.ts';

const headers = z.object({
  'webhook-id': z.string().meta({
    description:
      'Identifies the event for this webhook, over all attempts. Ignore an id that you have processed.',
    examples: ['evt_6c0f4f0d-6b9e-5d7a-9a3b-0a9f1c2d3e4f'],
  }),
  'webhook-timestamp': z.string().meta({
    description:
      'When this attempt began, in seconds since 1970. Reject attempts that differ from your clock by more than 5 minutes.',
    examples: ['1795252471'],
  }),
  'webhook-signature': z.string().meta({
    description:
      'One or two signatures, separated by a space: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, with the ' +
      'secret after `whsec_`, decoded from base64, as the key.',
    examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='],
  }),
});

/** Returns the `webhooks` of the OpenAPI document: the requests that Lectern sends to integrators' receivers. */
export function documentedEvents(): Record<string, ZodOpenApiPathItemObject> {
  return Object.fromEntries(
    (Object.keys(eventDefinitions) as EventType[]).map((type) => [type, { post: operationOf(type) }]),
  );
}

function operationOf(type: EventType): ZodOpenApiPathItemObject['post'] {
  const { when, data } = eventDefinitions[type];
  const body = z.strictObject({
    type: z.literal(type),
    timestamp: z.iso.datetime().meta({ description: 'When the event occurred.' }),
    data,
  });
  return {
    operationId: `receive.${type}`,
    tags: ['Webhooks'],
    summary: type,
    description: when,
    security: [],
    requestParams: { header: headers },
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: body,
          examples: { event: { value: { type, timestamp: eventTime, data: eventData[type] } } },
        },
      },
    },
    responses: {
      '2XX': { description: 'The event is delivered.' },
      410: { description: 'The receiver is gone: Lectern disables the webhook.' },
      default: { description: 'Lectern tries again, for three days. It follows no redirect.' },
    },
  };
}
