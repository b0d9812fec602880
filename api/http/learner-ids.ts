import { z } from 'zod';

/* How requests name learners: integrators by their learnerId, LTI platforms by the id of the user and of the platform. */

/**
 * An id that another system assigns: any text that a record can contain.
 *
 * @param missing the text of the fault if it is missing or empty.
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
  description: "The platform's id of the user, from the launch, percent-encoded where necessary.",
});

const isUuid = (text: string) => z.guid().safeParse(text).success;

/** Lectern's id of a platform. Records have it in lower case. Other texts are the id of no platform. */
export const platformId = identifier('platformId')
  .overwrite((id) => (isUuid(id) ? id.toLowerCase() : id))
  .meta({ description: "Lectern's id of the platform. Case is ignored." });
