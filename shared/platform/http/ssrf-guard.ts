import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { buildConnector } from 'undici';

/*
 * SSRF guard (server-side request forgery): authors and platforms choose URLs that Lectern requests. The guard keeps
 * these requests from reaching private networks and cloud metadata.
 */

/** The only IPv6 block with public addresses (RFC 4291, IANA's registry). */
const globalUnicast = ipaddr.IPv6.parse('2000::');

/** Azure's virtual machines reach an internal service of their host at this address, although its block is public. */
const azureHost = '168.63.129.16';

/**
 * Returns whether an IP address belongs to the public internet.
 *
 * ipaddr.js knows the special blocks of both families: private, loopback, link-local (with cloud metadata), mapped,
 * NAT64, 6to4, Teredo, documentation. It classifies everything else as "unicast", including unassigned blocks and
 * `::7f00:1` (the normal form of `[::127.0.0.1]`); hence the check for 2000::/3.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === azureHost) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast, 3);
}

/** Returns `host:port` as in `allowedPrivateHosts`: lower case, always with the port, IPv6 in brackets. */
export function hostOf(url: URL): string {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return `${url.hostname}:${port}`;
}

/** Returns the IP address of a URL, or null for a host name. The URL parser has normalized other spellings. */
export function literalAddress(url: URL): string | null {
  const address = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? null : address;
}

/** The `code` of the error with which {@link publicOnly} and {@link guardConnector} reject a host. */
export const notPublicCode = 'ERR_ADDRESS_NOT_PUBLIC';

function notPublic(message: string): Error {
  return Object.assign(new Error(message), { code: notPublicCode });
}

/**
 * Returns a DNS lookup that rejects a name if any of its addresses is not public. It runs for each connection, which uses
 * its result: the name cannot resolve differently between check and use (DNS rebinding).
 */
export function publicOnly(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      // A failed lookup has no addresses, although its type does not allow that.
      if (error !== null) {
        callback(error, found, family);
        return;
      }
      const addresses = typeof found === 'string' ? [found] : found.map((entry) => entry.address);
      if (addresses.every(isPublicAddress)) {
        callback(error, found, family);
        return;
      }
      callback(notPublic('The name has an address that is not public'), []);
    });
  };
}

/**
 * Returns a connector that connects to public addresses only. It checks an IP address before it connects, because no
 * lookup follows, and the connected address before a request is sent.
 */
export function guardConnector(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) => {
    if (isIP(target.hostname) !== 0 && !isPublicAddress(target.hostname)) {
      callback(notPublic('The address is not public'), null);
      return;
    }
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error !== null || isPublicAddress(socket.remoteAddress ?? '')) {
        callback(...result);
        return;
      }
      socket.destroy();
      callback(notPublic('The connected address is not public'), null);
    });
  };
}
