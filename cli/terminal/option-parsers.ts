import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { publicKeyPattern } from '../../shared/accounts/credentials.ts';
import { readEmbeddingOrigin } from '../../shared/accounts/embedding-origins.ts';
import { emailSchema } from '../../shared/models/user.ts';
import { findJsonFault } from '../../shared/packages/json-syntax.ts';
import { learnerIdPattern } from '../../shared/tokens/sign-token-request.ts';

// Commander prints what these throw, with the option's name, and the exit code is 2.

/** @throws {InvalidArgumentError} */
export function slugValue(text: string): string {
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) && text.length <= 100) return text;
  throw new InvalidArgumentError('It may hold a-z, 0-9 and single hyphens only.');
}

/** A name for people. @throws {InvalidArgumentError} */
export function nameValue(text: string): string {
  if (text.trim() !== '' && text.length <= 200) return text.trim();
  throw new InvalidArgumentError('It must hold 1 to 200 characters.');
}

/** A UUID, in lower case. @throws {InvalidArgumentError} */
export function uuidValue(text: string): string {
  if (z.guid().safeParse(text).success) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID.');
}

/** One more UUID, each once. @throws {InvalidArgumentError} */
export function uuidsValue(text: string, before: string[] = []): string[] {
  return [...new Set([...before, uuidValue(text)])];
}

/** An e-mail address, as it is stored. @throws {InvalidArgumentError} */
export function emailValue(text: string): string {
  const email = emailSchema.safeParse(text);
  if (email.success) return email.data;
  throw new InvalidArgumentError('It must be an e-mail address.');
}

/** A whole number above 0. @throws {InvalidArgumentError} */
export function countValue(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number between 1 and 999999.');
}

/** How many of a list, up to a largest number. @throws {InvalidArgumentError} */
export function pageSizeValue(most: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number between 1 and ${most}.`);
  };
}

/** A port to listen on; 0 is any that is free. @throws {InvalidArgumentError} */
export function portValue(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a whole number between 0 and 65535.');
}

/**
 * A time in the future, as ISO 8601 has it: a date that exists, and an offset from UTC, so that it is the same time on
 * every host. @throws {InvalidArgumentError}
 */
export function futureTimeValue(text: string): Date {
  if (!z.iso.datetime({ offset: true }).safeParse(text).success) {
    throw new InvalidArgumentError(
      'It must be a date and time with an offset, such as 2027-01-31T12:00:00Z or 2027-01-31T13:00:00+01:00.',
    );
  }
  const time = new Date(text);
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return time;
}

/** An http or https address. @throws {InvalidArgumentError} */
export function webAddressValue(text: string): string {
  if (z.url({ protocol: /^https?$/ }).safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be an http or https address.');
}

/** One more origin of pages that show lessons in a frame, each once. @throws {InvalidArgumentError} */
export function originValue(text: string, before: string[] = []): string[] {
  const read = readEmbeddingOrigin(text);
  if ('fault' in read) throw new InvalidArgumentError(read.fault);
  return [...new Set([...before, read.origin])];
}

/** An id of LTI, as a platform gives it: 1 to 255 ASCII characters. @throws {InvalidArgumentError} */
export function ltiIdValue(text: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('It must hold 1 to 255 ASCII characters.');
}

/** One more id of LTI, each once. @throws {InvalidArgumentError} */
export function ltiIdsValue(text: string, before: string[] = []): string[] {
  return [...new Set([...before, ltiIdValue(text)])];
}

/** A public key; whole credentials are taken too, and their secret is dropped. @throws {InvalidArgumentError} */
export function publicKeyValue(text: string): string {
  const [publicKey = ''] = text.split('.', 1);
  if (publicKeyPattern.test(publicKey)) return publicKey;
  throw new InvalidArgumentError('It must be a public key, which begins with lkp_.');
}

/** An integrator's identifier of a learner. @throws {InvalidArgumentError} */
export function learnerValue(text: string): string {
  if (learnerIdPattern.test(text)) return text;
  throw new InvalidArgumentError('It must hold 1 to 255 characters, and no control characters.');
}

/** A JSON text, as it is. @throws {InvalidArgumentError} */
export function jsonValue(text: string): string {
  if (findJsonFault(text) === undefined) return text;
  throw new InvalidArgumentError('It must be JSON.');
}
