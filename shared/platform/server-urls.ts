import { ConnectionString } from 'mongodb-connection-string-url';
import { parseUrl } from './parse-url.ts';

/**
 * Returns the fault of a MongoDB URI, to follow the setting's name; null for a valid one. The driver's own parser reads
 * it, so several hosts and all options are valid.
 */
export function mongodbFault(uri: string): string | null {
  let parsed: ConnectionString;
  try {
    parsed = new ConnectionString(uri);
  } catch {
    // The parser's message may contain the password.
    return 'must be a connection string: mongodb://host:27017/lectern, with several hosts between commas; characters such as @ : / % in a password are percent-encoded';
  }
  return /^\/[^/]+$/.test(parsed.pathname)
    ? null
    : 'must name the database after the hosts: mongodb://host:27017/lectern (without a name, the driver uses "test")';
}

/** Returns the fault of a Redis URL, as {@link mongodbFault}. */
export function redisFault(url: string): string | null {
  const parsed = parseUrl(url);
  if (parsed === null) {
    return 'must be a URL: redis://host:6379; characters such as @ : / % in a password are percent-encoded';
  }
  const { pathname, searchParams } = parsed;
  const isNumber = /^(?:\/\d{0,5})?$/.test(pathname) && /^\d{0,5}$/.test(searchParams.get('db') ?? '');
  return isNumber ? null : 'must name its database by number: redis://host:6379/0';
}

/**
 * Removes the secrets from a server's URL for output: everything up to the last @ (an unencoded password may contain
 * one), and the query, which may contain passwords of keys.
 */
export function withoutCredentials(address: string): string {
  return address.replace(/\/\/.*@/s, '//').replace(/\?.*$/s, '');
}

/**
 * Returns whether it is safe to show a message about the options of a MongoDB URI. It is not if these may contain
 * passwords or tokens: after an unencoded "&", the driver reads the rest of a password as an option.
 */
export function mayShowOptions(uri: string): boolean {
  return !/[?&][^=&]*(?:password|properties)[^=&]*=/i.test(uri);
}
