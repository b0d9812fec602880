/**
 * Permissions of API credentials, by scope. A key without a list of scopes has all of them, including those of later
 * releases. Scopes do not include each other.
 */
export const keyScopes = {
  read: 'list lessons and versions, download exports, read statistics of at least 5 learners',
  content: 'import, check, publish and delete lessons, sign preview links',
  tokens: 'sign tokens for learners',
  learners: "read learners' progress and answers; with read, statistics of any number of learners",
  erase: 'erase single learners and their records',
  retention: 'set how many days Lectern keeps the records of all learners',
  deliveries: 'manage webhooks and xAPI destinations, read and resend deliveries',
  audit: 'read the audit log',
} as const;

export type KeyScope = keyof typeof keyScopes;

/** The scopes of a key; null for all. */
export type KeyScopes = readonly KeyScope[] | null;

export const keyScopeNames = Object.keys(keyScopes) as [KeyScope, ...KeyScope[]];

export function hasScope(scopes: KeyScopes, scope: KeyScope): boolean {
  return scopes === null || scopes.includes(scope);
}

/** The text of a 403 for a key without a scope. */
export function missingScopeText(scope: KeyScope): string {
  return `These credentials lack the scope "${scope}". Ask the operator for credentials that have it.`;
}
