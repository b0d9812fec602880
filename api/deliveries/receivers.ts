import type { Context } from 'koa';
import { z } from 'zod';
import { deliveryStatuses, resendDeliveries } from '../../shared/models/delivery-list.ts';
import type { EventDeliveryDb } from '../../shared/models/event-delivery.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import type { MissedEvents } from '../../shared/models/missed-events.ts';
import { count, json, time } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';

/* What webhooks and xAPI destinations have in common. */

export const missedEvents = z.strictObject({ since: time, until: time.nullable() }).meta({
  description:
    'When events were last not recorded, because too many deliveries of the organization waited. `until` is null while ' +
    'that lasts. Missing if it never happened.',
});

/** Presents the time in which a receiver missed events. */
export function presentMissed({ since, until }: MissedEvents): z.input<typeof missedEvents> {
  return { since: since.toISOString(), until: until?.toISOString() ?? null };
}

const statusFault = `status must be one of ${deliveryStatuses.join(', ')}`;
export const deliveryStatus = z.enum(deliveryStatuses, statusFault);

const timeOf = (name: string) =>
  z.iso
    .datetime({ offset: true, error: `${name} must be an ISO 8601 time with an offset, such as Z` })
    .transform((text) => new Date(text));

const replaySchema = z.strictObject(
  {
    since: timeOf('since').meta({ description: 'Deliveries that were created at this time or later.' }),
    until: timeOf('until').optional().meta({ description: 'Only deliveries that were created before it.' }),
    status: deliveryStatus
      .optional()
      .meta({ description: 'Only deliveries with this status; without it, all.' }),
  },
  { error: objectFault },
);

export const replayBody = strictBody(replaySchema, {
  failed: {
    summary: 'Failed deliveries since a time',
    value: { since: '2026-11-21T09:00:00.000Z', status: 'failed' },
  },
});

export const replayDescription =
  'Queues the deliveries of a period again, under their existing ids. Lectern keeps delivered ones for 7 days and ' +
  'failed ones for 30 days. An organization may do this 6 times a minute.';

export const replayed = json(
  'How many deliveries are queued.',
  z.strictObject({ count }).meta({ id: 'ReplayedDeliveries' }),
  { some: { value: { count: 42 } } },
);

/** Queues deliveries of a target again. @throws {LecternError} TOO_MANY_REQUESTS */
export async function replay(
  { db, rateLimits }: { db: EventDeliveryDb; rateLimits: Pick<RateLimits, 'replays'> },
  ctx: Context,
  target: { organizationId: string; targetId: string },
  { since, until = new Date(), status }: z.output<typeof replaySchema>,
) {
  await rateLimits.replays.count(ctx, target.organizationId);
  const queued = await resendDeliveries(db, { ...target, status }, { since, until });
  return { status: 202 as const, body: { count: queued } };
}
