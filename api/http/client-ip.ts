import type { Context } from 'koa';
import ipaddr from 'ipaddr.js';

/** The groups of 16 bits in a /64 network: providers give each customer at least that many IPv6 addresses. */
const networkGroups = 4;

/** Returns the key under which rate limits count a client: its IPv4 address, or the /64 network of its IPv6 address. */
export function clientIp(ctx: Pick<Context, 'ip' | 'req'>): string {
  const address = clientAddress(ctx) ?? ctx.req.socket.remoteAddress ?? '';
  return ipaddr.isValid(address) ? networkOf(address) : 'unknown';
}

/**
 * Returns the IP address of a client; null if there is none. With TRUST_PROXY, it is the address that the outermost
 * trusted proxy saw, or null if that wrote no address. Addresses before that one are ignored.
 */
export function clientAddress({ ip }: Pick<Context, 'ip'>): string | null {
  // Some proxies add a port to the address that they forward.
  const forwarded = /^([\d.]+):\d+$|^\[([^\]]+)\](?::\d+)?$/.exec(ip);
  const address = forwarded?.[1] ?? forwarded?.[2] ?? ip;
  return ipaddr.isValid(address) ? address : null;
}

function networkOf(address: string): string {
  // A server that listens on both families gets IPv4 addresses as ::ffff:192.0.2.1.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, networkGroups)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
