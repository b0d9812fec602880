/** The object of an action: `learner` by pseudonym, anything else by id. */
export interface AuditTarget {
  type: string;
  id: string;
}

/**
 * Actor: an API key by its public key, a user by id, an operator by login and host, the holder of a learner's token
 * by the token's id, or Lectern itself.
 */
export interface AuditActor {
  type: 'key' | 'user' | 'operator' | 'token' | 'system';
  id: string;
}

/** Stands for an organization's id in the installation's log, which has events outside all organizations. */
export const installationLog = 'installation';

/** Named like the audited endpoints and commands: `learner.erase`. */
export type AuditAction = `${string}.${string}`;

/** Values that identify no learner and are no secret. */
export type AuditDetails = Record<string, string | number | boolean | null>;

/** One action: its actor, target, time and origin. */
export interface AuditEntry {
  /** ISO 8601. */
  at: string;
  action: AuditAction;
  actor: AuditActor;
  target: AuditTarget | null;
  details: AuditDetails;
  /** An IPv4 address or an IPv6 network; null for commands. */
  ip: string | null;
  /** The `X-Request-Id` of the request; null for commands. */
  requestId: string | null;
}

export type NewAuditEntry = Omit<AuditEntry, 'at'>;
