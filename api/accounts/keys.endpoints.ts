import { z } from 'zod';
import {
  isRangeWithin,
  maxAddressRanges,
  readAddressRange,
} from '../../shared/accounts/allowed-addresses.ts';
import { publicKeyPattern } from '../../shared/accounts/credentials.ts';
import type { Credentials } from '../../shared/accounts/credentials.ts';
import { keyScopeNames } from '../../shared/accounts/permissions.ts';
import type { KeyScopes } from '../../shared/accounts/permissions.ts';
import {
  defaultExpiry,
  earlierExpiry,
  findApiKey,
  issueApiKey,
  revokeApiKey,
  rotateApiKey,
} from '../../shared/models/api-key.ts';
import type { ApiKey } from '../../shared/models/api-key.ts';
import type { Database } from '../../shared/models/database.ts';
import { newestFirst } from '../../shared/models/newest-first.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { listQuery, nextCursorField, presentPosition } from '../http/pagination.ts';
import { empty, failure, json, time } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { apiAccess } from './access.ts';
import type { ApiCaller } from './access.ts';
import { exampleUser } from './present-user.ts';

const publicKey = z.string().regex(publicKeyPattern, 'Invalid public key format');
const keyBody = z
  .strictObject({
    publicKey,
    label: z.string().nullable(),
    createdBy: z.string().nullable().meta({
      description: 'The id of the user, or the public key, that created it; null for the operator.',
    }),
    scopes: z
      .array(z.enum(keyScopeNames))
      .nullable()
      .meta({ description: 'Null for all, including those of later releases.' }),
    allowedAddresses: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The ranges of IP addresses from which it is valid; null for all.' }),
    createdAt: time,
    expiresAt: time.nullable(),
    revokedAt: time.nullable(),
    lastUsedAt: time.nullable().meta({ description: 'Accurate to a minute.' }),
  })
  .meta({ id: 'ApiKey' });
const keyPage = z.strictObject({ keys: z.array(keyBody), nextCursor: nextCursorField });
const createdKey = keyBody
  .extend({
    credentials: z
      .string()
      .meta({ description: 'PUBLIC_KEY.SECRET_KEY, for the header `Authorization`. It is shown only once.' }),
  })
  .meta({ id: 'CreatedApiKey' });

const addressesFault = `allowedAddresses must be a list of 1 to ${maxAddressRanges} IP addresses or ranges, or null`;
const expiryFault = 'expiresAt must be a time in the future, or null';
const scopesFault = `scopes must be a list of scopes: ${keyScopeNames.join(', ')}`;
const newKeySchema = z.strictObject(
  {
    label: z
      .string('label must be a text')
      .trim()
      .min(1, 'label must not be empty')
      .max(200, 'label must be at most 200 characters')
      .nullable()
      .default(null)
      .meta({ description: 'The purpose of the key.' }),
    scopes: z
      .array(z.enum(keyScopeNames, scopesFault), scopesFault)
      .min(1, scopesFault)
      .transform((scopes) => [...new Set(scopes)])
      .nullable()
      .default(null)
      .meta({ description: 'What the key may do; null for everything.' }),
    expiresAt: z.iso
      .datetime({ offset: true, error: expiryFault })
      .transform((text) => new Date(text))
      .refine((date) => date > new Date(), expiryFault)
      .nullable()
      .optional()
      .meta({ description: "By default, the organization's expiry of new keys; null for never." }),
    allowedAddresses: z
      .array(z.string(addressesFault), addressesFault)
      .min(1, addressesFault)
      .max(maxAddressRanges, addressesFault)
      .transform((texts, context) =>
        texts.map((text) => {
          const range = readAddressRange(text);
          if (range === null)
            context.addIssue(`allowedAddresses has no IP address or range ${JSON.stringify(text)}`);
          return range ?? '';
        }),
      )
      .nullable()
      .default(null)
      .meta({ description: 'IP addresses, or ranges in CIDR notation, from which the key is valid.' }),
  },
  { error: objectFault },
);

const maxOverlapHours = 24 * 30;
const overlapFault = `overlapHours must be a whole number between 0 and ${maxOverlapHours}`;
const rotationSchema = z.strictObject(
  {
    overlapHours: z
      .int(overlapFault)
      .min(0, overlapFault)
      .max(maxOverlapHours, overlapFault)
      .default(24)
      .meta({ description: 'How long the old key stays valid.' }),
  },
  { error: objectFault },
);

const common = {
  access: apiAccess,
  scope: 'accounts',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Users',
} as const;
const ofOne = {
  ...common,
  path: '/api/keys/:publicKey',
  params: z.object({ publicKey: publicKey.meta({ description: 'The public key.' }) }),
} as const;

const notFoundText = 'API key not found';
const notFound = failure('There is no such key, or it belongs to another organization.', notFoundText);
const revokedText = 'The API key was revoked';
const tooMuchText = 'A key cannot get scopes or IP addresses that the caller lacks';
const tooMuch = failure('The key would be allowed to do more than the caller.', tooMuchText);

interface KeyDependencies {
  db: Database;
  secrets: Pick<Secrets, 'keyPepper'>;
}

/** Prevents that a caller gains rights through another key. @throws {LecternError} FORBIDDEN */
function requireScopes({ permissions }: ApiCaller, scopes: KeyScopes): void {
  if ((scopes ?? keyScopeNames).every((scope) => permissions.includes(scope))) return;
  throw new LecternError('FORBIDDEN', tooMuchText);
}

/** Prevents that a key makes one for other IP addresses than its own. @throws {LecternError} FORBIDDEN */
function requireAddresses({ limits }: ApiCaller, addresses: ApiKey['allowedAddresses']): void {
  const allowed = limits?.allowedAddresses ?? null;
  if (allowed === null || addresses?.every((range) => isRangeWithin(range, allowed))) return;
  throw new LecternError('FORBIDDEN', tooMuchText);
}

function setTarget(ctx: EndpointContext, id: string, successor?: string): void {
  const target = { type: 'key', id };
  auditedChange.set(ctx, { target, ...(successor !== undefined && { details: { successor } }) });
}

function presentKey(key: ApiKey): z.input<typeof keyBody> {
  const { _id, label, createdBy, scopes, allowedAddresses, createdAt, expiresAt, revokedAt, lastUsedAt } =
    key;
  return {
    publicKey: _id,
    label,
    createdBy,
    scopes: scopes && [...scopes],
    allowedAddresses: allowedAddresses && [...allowedAddresses],
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}

/** Returns the key with its credentials. */
async function presentCreated(db: Database, { publicKey: id, secretKey }: Credentials) {
  const key = await findApiKey(db, { publicKey: id });
  if (key === null) throw new Error('a key that was just created is missing');
  return { ...presentKey(key), credentials: `${id}.${secretKey}` };
}

const exampleKey = {
  publicKey: 'lkp_4fQm8XyT2LbW9sKd0VhR6nJc',
  label: 'the shop',
  createdBy: exampleUser.id,
  scopes: ['read', 'tokens'],
  allowedAddresses: null,
  createdAt: '2026-11-02T08:20:11.000Z',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: '2026-11-21T09:12:04.180Z',
} satisfies z.input<typeof keyBody>;
const exampleCreated = {
  ...exampleKey,
  lastUsedAt: null,
  credentials: `${exampleKey.publicKey}.lks_…`,
};

/** GET /api/keys */
export const listKeys = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/keys',
    query: listQuery('keys'),
    operationId: 'listApiKeys',
    summary: 'List API keys',
    description: 'The newest first, without their secrets; revoked and expired ones, too.',
    responses: {
      200: json('A page of keys.', keyPage, { one: { value: { keys: [exampleKey], nextCursor: null } } }),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, query: { limit, cursor = null } }) => {
      const filter = { organizationId: caller.organization._id };
      const { entries, next } = await newestFirst(db.apiKeys, filter, { limit, after: cursor });
      return { status: 200, body: { keys: entries.map(presentKey), nextCursor: presentPosition(next) } };
    },
);

/** POST /api/keys */
export const createKey = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/keys',
    audit: 'key.create',
    idempotent: true,
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description:
      'Callers can give only scopes that they have. A key that is made with a key expires no later and is valid from no ' +
      'other IP addresses.',
    body: strictBody(newKeySchema, { shop: { value: { label: 'the shop', scopes: ['read', 'tokens'] } } }),
    responses: {
      201: json('The key, with its secret.', createdKey, { created: { value: exampleCreated } }),
      403: tooMuch,
    },
  },
  ({ db, secrets }: KeyDependencies) =>
    async ({ ctx, caller, readBody, newId }) => {
      const { expiresAt = defaultExpiry(caller.organization), ...fields } = await readBody();
      requireScopes(caller, fields.scopes);
      const { expiresAt: latest = null, allowedAddresses: allowed = null } = caller.limits ?? {};
      const allowedAddresses = fields.allowedAddresses ?? allowed;
      requireAddresses(caller, allowedAddresses);
      const owned = {
        ...{ organizationId: caller.organization._id, createdBy: caller.id, ...fields, allowedAddresses },
        expiresAt: earlierExpiry(expiresAt, latest),
      };
      const issued = await issueApiKey(db, secrets.keyPepper, owned, newId);
      setTarget(ctx, issued.publicKey);
      return { status: 201, body: await presentCreated(db, issued) };
    },
);

/** POST /api/keys/{publicKey}/rotate */
export const rotateKey = defineEndpoint(
  {
    ...ofOne,
    method: 'post',
    path: '/api/keys/:publicKey/rotate',
    audit: 'key.rotate',
    idempotent: true,
    operationId: 'rotateApiKey',
    summary: 'Rotate an API key',
    description:
      "Creates a successor with the same label, scopes and addresses, and the organization's expiry, but not beyond that of " +
      'the key that sends the request. The old key stays valid for the overlap, but never beyond its own expiry.',
    body: strictBody(rotationSchema, { aDay: { value: { overlapHours: 24 } } }),
    responses: {
      201: json('The successor, with its secret.', createdKey, { created: { value: exampleCreated } }),
      403: tooMuch,
      404: notFound,
      409: failure('The key was revoked.', revokedText),
    },
  },
  ({ db, secrets }: KeyDependencies) =>
    async ({ ctx, caller, params, readBody, newId }) => {
      const { overlapHours } = await readBody();
      const key = { ...params, organizationId: caller.organization._id };
      const old = await findApiKey(db, key);
      if (old === null) throw new LecternError('NOT_FOUND', notFoundText);
      requireScopes(caller, old.scopes);
      requireAddresses(caller, old.allowedAddresses);
      const successor = await rotateApiKey(db, secrets.keyPepper, key, overlapHours * 3600, {
        ...{ id: newId, createdBy: caller.id, latestExpiry: caller.limits?.expiresAt ?? null },
      });
      if (successor === null) throw new LecternError('CONFLICT', revokedText);
      setTarget(ctx, old._id, successor.publicKey);
      return { status: 201, body: await presentCreated(db, successor) };
    },
);

/** DELETE /api/keys/{publicKey} */
export const revokeKey = defineEndpoint(
  {
    ...ofOne,
    method: 'delete',
    audit: 'key.revoke',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'It stops working at once, as do open invitations that it made, and stays in the list.',
    responses: { 204: empty('It is revoked.'), 403: tooMuch, 404: notFound },
  },
  ({ db }: { db: Database }) =>
    async ({ ctx, caller, params }) => {
      const key = { ...params, organizationId: caller.organization._id };
      const found = await findApiKey(db, key);
      if (found === null) throw new LecternError('NOT_FOUND', notFoundText);
      if (found._id !== caller.id) requireScopes(caller, found.scopes);
      await revokeApiKey(db, key);
      setTarget(ctx, found._id);
      return { status: 204 };
    },
);

/** In the order in which requests match them. */
export const keyEndpoints = [rotateKey, revokeKey, createKey, listKeys] as const;
