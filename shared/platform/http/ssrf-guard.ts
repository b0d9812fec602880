import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only block of IPv6 from which public addresses are given out (RFC 4291, IANA's registry). */
const globalUnicast = ipaddr.IPv6.parse('2000::');

/**
 * Whether an IP address, as text, belongs to the public internet.
 *
 * ipaddr.js knows the special blocks of both families: private, loopback, link-local (cloud metadata among them),
 * mapped, NAT64, 6to4, Teredo, documentation. It calls anything else "unicast", also `::7f00:1` (which is what a URL
 * makes of `[::127.0.0.1]`) and blocks that nobody was given; hence the test for 2000::/3.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast, 3);
}

/** `host:port` as `allowedPrivateHosts` has it: lower case, the port always named, IPv6 in brackets. */
export function hostOf(url: URL): string {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return `${url.hostname}:${port}`;
}

/** The IP address that a URL names instead of a host name; null for a name. Other spellings are normal form by then. */
export function literalAddress(url: URL): string | null {
  const address = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? null : address;
}

/** The `code` of the error with which {@link publicOnly} refuses a name. */
export const notPublicCode = 'ERR_ADDRESS_NOT_PUBLIC';

/**
 * A lookup that refuses a name as soon as one of its addresses is not public. It runs when a connection is made and
 * its answer is the one connected to, so that a name cannot change its mind between check and use (DNS rebinding).
 */
export function publicOnly(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = typeof found === 'string' ? [found] : found.map((entry) => entry.address);
      if (error === null && !addresses.every(isPublicAddress)) {
        callback(
          Object.assign(new Error('The name has an address that is not public'), { code: notPublicCode }),
          [],
        );
      } else {
        callback(error, found, family);
      }
    });
  };
}
