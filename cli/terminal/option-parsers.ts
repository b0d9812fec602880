import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { readAddressRange } from '../../shared/accounts/allowed-addresses.ts';
import { publicKeyPattern } from '../../shared/accounts/credentials.ts';
import { keyScopeNames } from '../../shared/accounts/permissions.ts';
import type { KeyScope } from '../../shared/accounts/permissions.ts';
import { readEmbeddingOrigin } from '../../shared/accounts/embedding-origins.ts';
import { emailSchema } from '../../shared/models/user.ts';
import { findJsonFault } from '../../shared/lessons/json-syntax.ts';
import { learnerIdPattern } from '../../shared/tokens/sign-token-request.ts';

/**
 * Parsers of options and arguments. Each throws an InvalidArgumentError, which commander prints with the option's name;
 * the exit code is 2.
 */

export function parseSlug(text: string): string {
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) && text.length <= 100) return text;
  throw new InvalidArgumentError('It may contain only a-z, 0-9 and single hyphens.');
}

/** Parses a display name. */
export function parseName(text: string): string {
  if (text.trim() !== '' && text.length <= 200) return text.trim();
  throw new InvalidArgumentError('It must have 1 to 200 characters.');
}

/** Parses a UUID into lower case. */
export function parseUuid(text: string): string {
  if (z.guid().safeParse(text).success) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID.');
}

/** Returns a parser for one of some words. */
export function oneOf<Value extends string>(values: readonly Value[]): (text: string) => Value {
  return (text) => {
    const value = values.find((one) => one === text);
    if (value === undefined) throw new InvalidArgumentError(`It must be one of ${values.join(', ')}.`);
    return value;
  };
}

/** Adds a UUID to those of the previous arguments, each once. */
export function collectUuids(text: string, previous: string[] = []): string[] {
  return [...new Set([...previous, parseUuid(text)])];
}

/** Parses an email address into its stored form. */
export function parseEmail(text: string): string {
  const email = emailSchema.safeParse(text);
  if (email.success) return email.data;
  throw new InvalidArgumentError('It must be an email address.');
}

export function parseCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number between 1 and 999999.');
}

export function pageSizeParser(max: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number between 1 and ${max}.`);
  };
}

/** Parses a port to listen on; 0 is any free port. */
export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a whole number between 0 and 65535.');
}

/** Parses an ISO 8601 time: an existing date, with an offset from UTC, so that it is unambiguous on any host. */
export function parseTime(text: string): Date {
  if (!z.iso.datetime({ offset: true }).safeParse(text).success) {
    throw new InvalidArgumentError(
      'It must be a date and time with an offset, such as 2027-01-31T12:00:00Z or 2027-01-31T13:00:00+01:00.',
    );
  }
  return new Date(text);
}

/** Parses a future ISO 8601 time. */
export function parseFutureTime(text: string): Date {
  const time = parseTime(text);
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return time;
}

export function parseHttpUrl(text: string): string {
  if (z.url({ protocol: /^https?$/ }).safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be an http or https URL.');
}

/** Adds an origin to those of the previous arguments, each once. */
export function collectOrigins(text: string, previous: string[] = []): string[] {
  const read = readEmbeddingOrigin(text);
  if ('fault' in read) throw new InvalidArgumentError(read.fault);
  return [...new Set([...previous, read.origin])];
}

/** Parses an id of LTI 1.3, such as a client id: 1 to 255 ASCII characters. */
export function parseLtiId(text: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('It must have 1 to 255 ASCII characters.');
}

/** Adds an id of LTI 1.3 to those of the previous options, each once. */
export function collectLtiIds(text: string, previous: string[] = []): string[] {
  return [...new Set([...previous, parseLtiId(text)])];
}

/** Parses a public key; drops the secret of whole credentials. */
export function parsePublicKey(text: string): string {
  const [publicKey = ''] = text.split('.', 1);
  if (publicKeyPattern.test(publicKey)) return publicKey;
  throw new InvalidArgumentError('It must be a public key, which begins with lkp_.');
}

/** Parses scopes of a key, separated by commas, each once. */
export function parseScopes(text: string): KeyScope[] {
  const read = z
    .array(z.enum(keyScopeNames))
    .min(1)
    .safeParse(text.split(',').map((scope) => scope.trim()));
  if (read.success) return [...new Set(read.data)].toSorted();
  throw new InvalidArgumentError(
    `It must be one or more of ${keyScopeNames.join(', ')}, separated by commas.`,
  );
}

/** Adds an IP address or a range to those of the previous arguments, each once. */
export function collectAddresses(text: string, previous: string[] = []): string[] {
  const range = readAddressRange(text);
  if (range !== null) return [...new Set([...previous, range])];
  throw new InvalidArgumentError(
    'It must be an IP address, or a range in CIDR notation, such as 203.0.113.0/24.',
  );
}

/** Parses a number of days, or `never` (null). */
export function parseDays(text: string): number | null {
  return text === 'never' ? null : parseCount(text);
}

/** Parses a future ISO 8601 time, or `never` (null). */
export function parseExpiry(text: string): Date | null {
  return text === 'never' ? null : parseFutureTime(text);
}

/** Parses a limit in bytes: `none` (0) for no limit, `default` (null) for that of the installation. */
export function parseByteLimit(text: string): number | null {
  if (text === 'default') return null;
  if (text === 'none') return 0;
  if (/^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of bytes, none, or default.');
}

/** Parses an integrator's identifier of a learner. */
export function parseLearnerId(text: string): string {
  if (learnerIdPattern.test(text)) return text;
  throw new InvalidArgumentError('It must have 1 to 255 characters, and no control characters.');
}

/** Checks that a text is JSON, and returns it unchanged. */
export function checkJson(text: string): string {
  if (findJsonFault(text) === undefined) return text;
  throw new InvalidArgumentError('It must be JSON.');
}
