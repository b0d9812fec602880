import type { Config } from '../platform/config.ts';
import { hostOf, literalAddress } from '../platform/http/ssrf-guard.ts';
import { parseUrl } from '../platform/parse-url.ts';

export const maxUrlLength = 2048;

/** The settings that decide which receivers may be private. */
export interface ReceiverConfig {
  download: Pick<Config['download'], 'allowedPrivateHosts'>;
  isLocal: Config['isLocal'];
}

/**
 * Returns the private hosts, as `host:port`, that a receiver's URL may name: those in LECTERN_ALLOWED_PRIVATE_HOSTS
 * and, if only this machine reaches Lectern, a loopback host in the URL itself.
 */
export function privateHostsOf(url: URL, { download, isLocal }: ReceiverConfig): readonly string[] {
  const { allowedPrivateHosts } = download;
  return isLocal && isLoopback(url) ? [...allowedPrivateHosts, hostOf(url)] : allowedPrivateHosts;
}

/** Returns the fault of a receiver's URL; null for a valid one. @param field the name of the URL in the message. */
export function receiverUrlFault(text: string, config: ReceiverConfig, field = 'url'): string | null {
  const url = parseUrl(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return `${field} must be an https URL`;
  }
  if (text.length > maxUrlLength) return `${field} must be at most ${maxUrlLength} characters`;
  if (url.username !== '' || url.password !== '') return `${field} must have no user name and no password`;
  if (url.protocol === 'http:' && !privateHostsOf(url, config).includes(hostOf(url))) {
    return `${field} must begin with https://`;
  }
  return null;
}

function isLoopback(url: URL): boolean {
  const address = literalAddress(url);
  return url.hostname === 'localhost' || address === '::1' || (address?.startsWith('127.') ?? false);
}
