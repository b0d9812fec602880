import { signal } from '@preact/signals';
import type { UserSession } from '../api-types.ts';

/** The user who is logged in; null for none. */
export const session = signal<UserSession | null>(null);

/** Set while a session has ended and requests wait for a new one. */
export const renewal = signal<{ finish: (isRenewed: boolean) => void } | null>(null);

let renewing: Promise<boolean> | undefined;

/**
 * Asks the user to log in again, in a dialog over the page. Concurrent calls share the dialog.
 *
 * @returns false if the user closes it.
 */
export function renewSession(): Promise<boolean> {
  if (session.value === null) return Promise.resolve(false);
  renewing ??= new Promise<boolean>((resolve) => {
    renewal.value = { finish: resolve };
  }).finally(() => {
    renewal.value = null;
    renewing = undefined;
  });
  return renewing;
}

/** Something that only some users may do: see `shared/accounts/permissions.ts`. */
export type Permission = UserSession['permissions'][number];

/** Returns whether the user may do something. What a user may not do is not shown. */
export function can(permission: Permission): boolean {
  return session.value?.permissions.includes(permission) ?? false;
}
