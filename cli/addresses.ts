import { isIPv6 } from 'node:net';
import type { Config } from '../shared/config.ts';

/** The URL that reaches, on this machine, a server which listens on a host and port. */
export function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * The URL under which people reach the API: `PUBLIC_URL`, else that of this machine. Null with `PORT=0`, where only the
 * API knows its port.
 */
export function publicAddress({
  publicUrl,
  host,
  port,
}: Pick<Config, 'publicUrl' | 'host' | 'port'>): string | null {
  if (publicUrl !== undefined) return publicUrl;
  return port === 0 ? null : addressOf(host, port);
}
