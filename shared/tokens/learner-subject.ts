import { createHmac, hkdfSync } from 'node:crypto';

/** A learner of an organization, in all lessons and courses: of an integrator, or of an LTI platform. */
export type LearnerSubject =
  | { source: 'embed'; organizationId: string; learnerId: string }
  | { source: 'lti'; organizationId: string; platformId: string; ltiUserId: string };

/** Returns the learner with an id: the user of an LTI platform, or an integrator's learner without one. */
export function learnerSubject(
  organizationId: string,
  id: string,
  platformId: string | null | undefined,
): LearnerSubject {
  return platformId === null || platformId === undefined
    ? { source: 'embed', organizationId, learnerId: id }
    : { source: 'lti', organizationId, platformId, ltiUserId: id };
}

const keys = new Map<string, Buffer>();

/** Deriving a key takes longer than using it. A process has one pepper; tests have a few. */
function keyOf(pepper: string): Buffer {
  const known = keys.get(pepper);
  if (known !== undefined) return known;
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'lectern learner pseudonyms', 32));
  keys.set(pepper, key);
  return key;
}

/**
 * Returns the pseudonym of a learner: an HMAC-SHA-256 of the learner's ids, in base64url. It stands for the learner in
 * records that outlive the learner's data: the audit log, and the ledger of erasures. Only with the key pepper can a
 * known id be linked to its pseudonym.
 */
export function pseudonymOf(pepper: string, subject: LearnerSubject): string {
  const { source, organizationId } = subject;
  const ids = subject.source === 'embed' ? [subject.learnerId] : [subject.platformId, subject.ltiUserId];
  return hashOf(pepper, [source, organizationId, ...ids]);
}

/** Returns a pseudonym of an id that may be of an integrator's learner, or of users of several platforms. */
export function pseudonymOfId(pepper: string, organizationId: string, id: string): string {
  return hashOf(pepper, ['id', organizationId, id]);
}

function hashOf(pepper: string, ids: readonly string[]): string {
  return createHmac('sha256', keyOf(pepper)).update(JSON.stringify(ids)).digest('base64url');
}
