import type { Context } from 'koa';
import ipaddr from 'ipaddr.js';

/** The first four groups of an IPv6 address: each customer gets a /64 or more, and can use any address in it. */
const countedGroups = 4;

/**
 * What stands for a client where requests are counted: its IPv4 address, or the /64 network of its IPv6 address. With
 * TRUST_PROXY it is the address that the outermost trusted proxy saw; what that one sent along on trust is ignored.
 */
export function clientIp({ ip, req }: Pick<Context, 'ip' | 'req'>): string {
  // Some proxies add a port to the address that they forward.
  const forwarded = /^([\d.]+):\d+$|^\[([^\]]+)\](?::\d+)?$/.exec(ip);
  const address = forwarded?.[1] ?? forwarded?.[2] ?? ip;
  return networkOf(address) ?? networkOf(req.socket.remoteAddress ?? '') ?? 'unknown';
}

function networkOf(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  // An IPv4 address comes as ::ffff:192.0.2.1 where the server listens on both families.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, countedGroups)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
