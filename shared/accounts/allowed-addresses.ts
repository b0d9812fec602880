import ipaddr from 'ipaddr.js';

/** The maximum number of ranges of a key. */
export const maxAddressRanges = 100;

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Parses an IP address, or a range in CIDR notation, into the form that is stored: `203.0.113.7` becomes
 * `203.0.113.7/32`, and `203.0.113.7/24` becomes `203.0.113.0/24`. Null for anything else.
 */
export function readAddressRange(text: string): string | null {
  const range = parseRange(text);
  if (range === null) return null;
  const [address, bits] = range;
  const type = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${type.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString()}/${bits}`;
}

function parseRange(text: string): Range | null {
  try {
    if (text.includes('/')) {
      const [address, bits] = ipaddr.parseCIDR(text);
      // No address is in a range of IPv4-mapped addresses, because they are compared as IPv4.
      if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) return null;
      const isWhole =
        address instanceof ipaddr.IPv6 || ipaddr.IPv4.isValidFourPartDecimal(text.split('/')[0] ?? '');
      return isWhole ? [address, bits] : null;
    }
    const isWhole = text.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(text);
    // A server that listens on both families sees IPv4 addresses as ::ffff:192.0.2.1.
    const address = isWhole ? ipaddr.process(text) : null;
    return address && [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    return null;
  }
}

/** Returns whether a range lies within one of others, all as {@link readAddressRange} returns them. */
export function isRangeWithin(range: string, ranges: readonly string[]): boolean {
  const [address = '', bits] = range.split('/');
  return ranges.some((outer) => Number(outer.split('/')[1]) <= Number(bits) && isInRanges(address, [outer]));
}

/** Returns whether one of the ranges contains an address. @param address as the API sees it; never in a range if it is none */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some((text) => {
    const range = parseRange(text);
    return range !== null && range[0].kind() === parsed.kind() && parsed.match(range);
  });
}
