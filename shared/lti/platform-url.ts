import { getDomain } from 'tldts';
import { hostOf, isPublicAddress, literalAddress } from '../platform/http/ssrf-guard.ts';
import { parseUrl } from '../platform/parse-url.ts';

const maxCharacters = 4096;

/**
 * Returns the fault of a platform's URL, as text that follows the field's name; null if the URL is allowed. Only hosts
 * in LECTERN_ALLOWED_PRIVATE_HOSTS may use http.
 */
export function platformUrlFault(text: string, allowedPrivateHosts: readonly string[]): string | null {
  const url = parseUrl(text);
  if (url === null || text.length > maxCharacters) return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a name or a password';
  if (url.hash !== '') return 'must not have a fragment (#)';
  if (allowedPrivateHosts.includes(hostOf(url)) && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== 'https:') {
    return 'must be an https URL (LECTERN_ALLOWED_PRIVATE_HOSTS can allow http)';
  }
  const literal = literalAddress(url);
  if (literal === null || isPublicAddress(literal)) return null;
  return 'must have a public IP address, or a host that LECTERN_ALLOWED_PRIVATE_HOSTS names';
}

/**
 * Returns whether two hosts belong to one owner: they are equal, or share a registered domain. Services for many
 * schools have one issuer, and one host for each school. Below a public suffix, such as `ac.uk` or `github.io`, hosts
 * have many owners.
 */
export function areRelated(one: string, other: string): boolean {
  if (one === other) return true;
  const domain = getDomain(one, { allowPrivateDomains: true });
  return domain !== null && domain === getDomain(other, { allowPrivateDomains: true });
}

/** Whether URLs are on hosts that belong to one owner. A text that is not a URL is on no site. */
export function areOnOneSite(urls: readonly string[]): boolean {
  const [first, ...others] = urls.map((url) => parseUrl(url)?.hostname);
  return others.every((host) => first !== undefined && host !== undefined && areRelated(first, host));
}
