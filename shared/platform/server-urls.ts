import { ConnectionString } from 'mongodb-connection-string-url';
import { parseUrl } from './parse-url.ts';

/**
 * What is wrong with the address of MongoDB, to stand behind its name; null for a good one. It is the driver's own
 * parser that reads it, so that several hosts and all options are taken.
 */
export function mongodbFault(uri: string): string | null {
  let parsed: ConnectionString;
  try {
    parsed = new ConnectionString(uri);
  } catch {
    // The parser's own message may repeat the password.
    return 'must be a connection string: mongodb://host:27017/lectern, with several hosts between commas; characters such as @ : / % in a password are percent-encoded';
  }
  return /^\/[^/]+$/.test(parsed.pathname)
    ? null
    : 'must name the database behind the hosts: mongodb://host:27017/lectern (without a name the driver takes "test")';
}

/** The same of Redis. */
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
 * Returns the address of a server as it may be shown and logged: nothing up to the last @, as a password that was not
 * encoded may hold one, and no query, where passwords of keys may be.
 */
export function withoutCredentials(address: string): string {
  return address.replace(/\/\/.*@/s, '//').replace(/\?.*$/s, '');
}

/**
 * Returns whether a message about the options of a MongoDB address may be shown. Passwords and tokens among them rule
 * it out: after an unencoded "&" the driver takes the rest of a password for the name of an option.
 */
export function mayShowOptions(uri: string): boolean {
  return !/[?&][^=&]*(?:password|properties)[^=&]*=/i.test(uri);
}
