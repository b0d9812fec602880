import { signal } from '@preact/signals';
import { readScheme, schemeAttribute } from '../../shared/theme/tokens.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';

/** What a reader chose, in this browser only. */
type Preference = 'language' | 'scheme';

const storageKey = (name: Preference) => `lectern.console.${name}`;

/** Returns null if nothing was chosen, or if the browser keeps nothing. */
export function readPreference(name: Preference): string | null {
  try {
    return localStorage.getItem(storageKey(name));
  } catch {
    return null;
  }
}

/** @param value null forgets the choice */
export function savePreference(name: Preference, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(storageKey(name));
    else localStorage.setItem(storageKey(name), value);
  } catch {
    // It counts until the page is closed.
  }
}

/** The color scheme that the reader chose; undefined follows the device. */
export const scheme = signal<Scheme | undefined>(readScheme(readPreference('scheme')));

export function chooseScheme(chosen: Scheme | undefined): void {
  savePreference('scheme', chosen ?? null);
  scheme.value = chosen;
  showScheme();
}

export function showScheme(): void {
  const root = document.documentElement;
  if (scheme.value === undefined) root.removeAttribute(schemeAttribute);
  else root.setAttribute(schemeAttribute, scheme.value);
}
