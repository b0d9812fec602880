import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../models/database.ts';
import { resumeDeliveries } from '../models/delivery-list.ts';
import { deleteDeliveriesTo, waitAgain } from '../models/event-delivery.ts';
import { deleteDestination, findDestination, noIds, updateDestination } from '../models/xapi-destination.ts';
import type { XapiDestination, XapiVerb, XapiVersion } from '../models/xapi-destination.ts';
import { LecternError } from '../platform/errors.ts';
import { seal, unseal } from '../platform/seal.ts';
import { spreadMs } from '../webhooks/manage.ts';
import { receiverUrlFault } from '../webhooks/receiver-url.ts';
import type { ReceiverConfig } from '../webhooks/receiver-url.ts';

/** The limit per organization. */
export const maxDestinations = 5;
export const passwordNeeded = 'password is required with another endpoint';
export const destinationNotFound = 'xAPI destination not found';
export const tooManyDestinations = `An organization may have at most ${maxDestinations} xAPI destinations`;

/** Says why a destination is paused. */
export function pauseText(reason: string): string {
  if (reason === 'owner') return 'by its owner';
  if (reason === noIds) return 'the LRS returned no statement ids: another server is at the URL';
  return `the LRS returned ${reason}`;
}

/** The settings of a destination that its owner decides. */
export interface DestinationSettings {
  endpoint: string;
  username: string;
  password: string;
  version: XapiVersion;
  verbs: XapiVerb[];
  /** Whether statements name learners by pseudonyms. */
  pseudonyms: boolean;
  passingScore: number | null;
}

/** Identifies a destination of an organization. */
export interface DestinationKey {
  id: string;
  organizationId: string;
}

/** Returns the fault of a destination's endpoint; null for a valid one. */
export function endpointFault(text: string, config: ReceiverConfig): string | null {
  const fault = receiverUrlFault(text, config, 'endpoint');
  if (fault !== null) return fault;
  const { search, hash } = new URL(text);
  return search === '' && hash === '' ? null : 'endpoint must have no query and no fragment';
}

/**
 * Creates a destination. Resolves once it receives statements about every later write.
 *
 * @param id the id of the destination. An earlier run of the request may have created it already.
 * @throws {LecternError} CONFLICT
 */
export async function createDestination(
  db: Database,
  pepper: string,
  organizationId: string,
  { endpoint, username, password, pseudonyms, version, verbs, passingScore }: DestinationSettings,
  id: string = randomUUID(),
): Promise<XapiDestination> {
  const existing = await findDestination(db, id, organizationId);
  const countAll = () => db.xapiDestinations.countDocuments({ organizationId }).exec();
  if (existing === null && (await countAll()) >= maxDestinations) {
    throw new LecternError('CONFLICT', tooManyDestinations);
  }
  const document = {
    _id: id,
    ...{ organizationId, endpoint: withSlash(endpoint), username, version, verbs, passingScore },
    password: seal(password, sealScope(id), pepper),
    salt: pseudonyms ? newSalt(id, pepper) : null,
  };
  const created = existing ?? (await db.xapiDestinations.create(document)).toObject();
  // Concurrent requests beyond the limit undo their work.
  if ((await countAll()) > maxDestinations) {
    await deleteDestination(db, id, organizationId);
    throw new LecternError('CONFLICT', tooManyDestinations);
  }
  await delay(spreadMs);
  return created;
}

/**
 * Changes a destination. Activating it sends the waiting statements at once. Resolves once the change applies to every
 * later write.
 *
 * @throws {LecternError} NOT_FOUND; INVALID_CONTENT for another endpoint without a password: its server would otherwise
 * get the stored, secret password.
 */
export async function changeDestination(
  db: Database,
  pepper: string,
  key: DestinationKey,
  {
    isActive,
    endpoint,
    password,
    pseudonyms,
    ...rest
  }: Partial<DestinationSettings> & { isActive?: boolean },
): Promise<XapiDestination> {
  const { salt, endpoint: current, paused, rejections } = await requireDestination(db, key);
  const isMoved = endpoint !== undefined && withSlash(endpoint) !== current;
  if (isMoved && password === undefined) throw new LecternError('INVALID_CONTENT', passwordNeeded);
  const changed = await updateDestination(db, key, {
    ...rest,
    ...(endpoint !== undefined && { endpoint: withSlash(endpoint) }),
    ...(password !== undefined && { password: seal(password, sealScope(key.id), pepper) }),
    // The same salt gives the same pseudonyms.
    ...(pseudonyms !== undefined && { salt: pseudonyms ? (salt ?? newSalt(key.id, pepper)) : null }),
    ...(isActive === true && { paused: null }),
    ...(isActive === false && { paused: { reason: 'owner', at: new Date() } }),
  });
  if (changed === null) throw notFound();
  // Not after every change: there may be many.
  if (isActive === true) {
    // A worker may have recorded one as failed after the others were made to wait.
    if (paused !== null && rejections !== undefined) await waitAgain(db, key.id, rejections.since, 0);
    await resumeDeliveries(db, { organizationId: key.organizationId, targetId: key.id });
  }
  await delay(spreadMs);
  return changed;
}

/** Returns a destination of an organization. @throws {LecternError} NOT_FOUND */
export async function requireDestination(
  db: Database,
  { id, organizationId }: DestinationKey,
): Promise<XapiDestination> {
  const destination = await findDestination(db, id, organizationId);
  if (destination === null) throw notFound();
  return destination;
}

/** Deletes a destination with its statements. @throws {LecternError} NOT_FOUND */
export async function removeDestination(db: Database, { id, organizationId }: DestinationKey): Promise<void> {
  if (!(await deleteDestination(db, id, organizationId))) throw notFound();
  await deleteDeliveriesTo(db, id);
}

/** Returns the headers of requests to a destination. @throws {LecternError} INTERNAL_ERROR for another LECTERN_KEY_PEPPER. */
export function xapiHeaders(
  { _id, username, password, version }: XapiDestination,
  pepper: string,
): Record<string, string> {
  const opened = open(password, _id, pepper);
  return {
    'User-Agent': 'Lectern-xAPI/1',
    'X-Experience-API-Version': version,
    Authorization: `Basic ${Buffer.from(`${username}:${opened}`).toString('base64')}`,
  };
}

/** Returns the salt of a destination's pseudonyms; null without pseudonyms. @throws as {@link xapiHeaders}. */
export function saltOf({ _id, salt }: XapiDestination, pepper: string): string | null {
  return salt === null ? null : open(salt, _id, pepper);
}

function open(sealed: string, id: string, pepper: string): string {
  try {
    return unseal(sealed, sealScope(id), pepper);
  } catch (error) {
    const message =
      'The credentials of xAPI destinations were sealed with another LECTERN_KEY_PEPPER. Set it to its earlier value, ' +
      'or set the credentials of each destination again.';
    throw new LecternError('INTERNAL_ERROR', message, { cause: error });
  }
}

function newSalt(id: string, pepper: string): string {
  return seal(randomBytes(32).toString('base64'), sealScope(id), pepper);
}

function sealScope(id: string) {
  return { purpose: 'lectern xapi', id };
}

function withSlash(endpoint: string): string {
  return endpoint.replace(/\/*$/, '/');
}

function notFound(): LecternError {
  return new LecternError('NOT_FOUND', destinationNotFound);
}
