import { z } from 'zod';

/* The ids of learners in requests: a learnerId for integrators' learners, and user id and platform id for LTI users. */

/**
 * An id that another system assigns: any text that a record can contain.
 *
 * @param missing the error text for a missing or empty id.
 */
export const identifier = (name: string, missing = `${name} is required`) =>
  z
    .string(missing)
    .min(1, missing)
    .regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u, `${name} must be 1 to 255 characters without control characters`);

export const learnerId = identifier('learnerId').meta({
  description: 'The learnerId of the embed tokens, percent-encoded where necessary.',
});

export const ltiUserId = identifier('ltiUserId').meta({
  description: "The platform's id for the user, from the launch, percent-encoded where necessary.",
});

const isUuid = (text: string) => z.guid().safeParse(text).success;

/** Lectern's id of a platform. Records have it in lower case. Other texts are the id of no platform. */
export const platformId = identifier('platformId')
  .overwrite((id) => (isUuid(id) ? id.toLowerCase() : id))
  .meta({ description: "Lectern's id of the platform. Case is ignored." });
