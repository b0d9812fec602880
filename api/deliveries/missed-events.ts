import { z } from 'zod';
import type { MissedEvents } from '../../shared/models/missed-events.ts';
import { time } from '../http/responses.ts';

export const missedEvents = z.strictObject({ since: time, until: time.nullable() }).meta({
  description:
    'When events were last not recorded, because too many deliveries of the organization waited. `until` is null while ' +
    'that lasts. Missing if it never happened.',
});

/** Presents the time in which a receiver missed events. */
export function presentMissed({ since, until }: MissedEvents): z.input<typeof missedEvents> {
  return { since: since.toISOString(), until: until?.toISOString() ?? null };
}
