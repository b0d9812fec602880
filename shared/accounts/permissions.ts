/**
 * Permissions of API credentials, by scope. A key without a list of scopes has all of them, including those of later
 * releases. Scopes do not include each other.
 */
export const keyScopes = {
  read: 'list and preview lessons, download exports, read statistics of at least 5 learners',
  content: 'import, check, publish and delete lessons',
  tokens: 'sign tokens for learners',
  learners: "read learners' progress and answers; with read, statistics of any number of learners",
  erase: 'erase single learners and their records',
  retention: 'set how many days Lectern keeps the records of all learners',
  deliveries: 'manage webhooks and xAPI destinations, read and resend deliveries',
  audit: 'read the audit log',
  accounts: 'manage users, invitations and API keys, none with more rights than the caller has',
  platforms: 'manage learning platforms, read and resend their grades',
  organization: "change the organization's name and the look of its lessons",
} as const;

export type KeyScope = keyof typeof keyScopes;

/** The scopes of a key; null for all. */
export type KeyScopes = readonly KeyScope[] | null;

export const keyScopeNames = Object.keys(keyScopes) as [KeyScope, ...KeyScope[]];

/** What a caller may do: the scopes of keys, and `operator` for the installation, which no key has. */
export type Permission = KeyScope | 'operator';
export const permissions = [...keyScopeNames, 'operator'] as const satisfies Permission[];

/** The roles of an organization's users, and those of the installation's operators, who belong to no organization. */
export const organizationRoles = ['teacher', 'author', 'admin'] as const;
export type OrganizationRole = (typeof organizationRoles)[number];
export const roles = [...organizationRoles, 'operator'] as const;
export type Role = (typeof roles)[number];

/** What users may do, by role. */
export const rolePermissions: Readonly<Record<Role, readonly Permission[]>> = {
  teacher: ['read', 'learners'],
  author: ['read', 'content'],
  admin: keyScopeNames,
  operator: ['operator'],
};

/** The text of a 403 for a key without a scope. */
export function missingScopeText(scope: Permission): string {
  return `These credentials lack the scope "${scope}". Ask the operator for credentials that have it.`;
}

/** The text of a 403 for a user whose role lacks a permission. */
export function missingPermissionText(permission: Permission): string {
  return `Your role lacks the permission "${permission}". Ask an administrator of your organization for it.`;
}
