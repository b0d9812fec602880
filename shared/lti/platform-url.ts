import { getDomain } from 'tldts';
import { hostOf, isPublicAddress, literalAddress } from '../platform/http/ssrf-guard.ts';
import { parseUrl } from '../platform/parse-url.ts';

const maxCharacters = 4096;

/**
 * What is wrong with an address of a platform, to stand behind its name; null for a good one. Only hosts of
 * LECTERN_ALLOWED_PRIVATE_HOSTS may do without https.
 */
export function platformAddressFault(address: string, allowedPrivateHosts: readonly string[]): string | null {
  const url = parseUrl(address);
  if (url === null || address.length > maxCharacters) return 'must be an https address';
  if (url.username !== '' || url.password !== '') return 'must not hold a name or a password';
  if (url.hash !== '') return 'must not have a fragment (#)';
  if (allowedPrivateHosts.includes(hostOf(url)) && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== 'https:') {
    return 'must be an https address (http is for hosts that LECTERN_ALLOWED_PRIVATE_HOSTS names)';
  }
  const literal = literalAddress(url);
  if (literal === null || isPublicAddress(literal)) return null;
  return 'must be a public address, or one that LECTERN_ALLOWED_PRIVATE_HOSTS names';
}

/**
 * Whether a platform at one host may speak for an issuer at the other: the same host, or two of one registered domain.
 * Services for many schools have a host for each of them, and one issuer; below a public suffix, as `ac.uk` or
 * `github.io`, are the hosts of many owners.
 */
export function areRelated(one: string, other: string): boolean {
  if (one === other) return true;
  const domain = getDomain(one, { allowPrivateDomains: true });
  return domain !== null && domain === getDomain(other, { allowPrivateDomains: true });
}
