import { createHmac, randomUUID } from 'node:crypto';
import type { ParameterizedContext } from 'koa';
import { z } from 'zod';
import {
  claimRequest,
  forgetRequest,
  releaseRequest,
  storeResponse,
} from '../../shared/models/idempotent-request.ts';
import type { IdempotentRequestDb } from '../../shared/models/idempotent-request.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { seal, unseal } from '../../shared/platform/seal.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { auditedCaller } from './audit.ts';
import type { RequestState } from './context.ts';
import type { Headers } from './headers.ts';
import { failure } from './responses.ts';
import type { Failures, Responses } from './responses.ts';
import { tooMany } from './retry-after.ts';

/*
 * Idempotency keys (draft-ietf-httpapi-idempotency-key-header): a client that got no response repeats its request with the
 * same key, and the request creates its object only once. See docs/decisions/0050-idempotency-keys.md.
 */

export interface IdempotencyDependencies {
  db: IdempotentRequestDb;
  secrets: Pick<Secrets, 'keyPepper'>;
}

/** Limits the space that an organization takes in MongoDB, and the share of each API key or user. */
export const keyLimits = { perActor: 2_000, perOrganization: 10_000 };
const maxKeyLength = 255;
const runningRetrySeconds = 2;
const fullRetrySeconds = 3600;

const texts = {
  malformed: `Idempotency-Key must be 1 to ${maxKeyLength} visible ASCII characters without spaces`,
  mismatch: 'Idempotency-Key was used for another request; send a new key with each new request',
  running: `The first request with this Idempotency-Key is still running; try again in ${runningRetrySeconds} seconds`,
  actorIsFull: `These credentials have sent ${keyLimits.perActor} idempotency keys in 24 hours`,
  organizationIsFull: `Your organization has sent ${keyLimits.perOrganization} idempotency keys in 24 hours`,
};

export const idempotencyKey = z
  .string()
  .optional()
  .meta({
    description:
      'A new random id, such as a UUID, for each new request. If you get no response, repeat the request with the same ' +
      'key within 24 hours: Lectern creates nothing twice, and returns the first response.',
    examples: ['8e03978e-40d5-43e8-bc93-6894a57f9324'],
  });

/** Headers of successful responses of endpoints that accept an idempotency key. */
export const replayed: Headers = {
  'Idempotent-Replayed': z
    .literal('true')
    .optional()
    .meta({
      description: 'This is the response of an earlier request with the same `Idempotency-Key`.',
      header: { id: 'IdempotentReplayed' },
    }),
};

export const idempotencyFailures: Failures = {
  400: failure('`Idempotency-Key` is malformed.', texts.malformed),
  409: {
    ...failure('A request with the same `Idempotency-Key` is still running.', texts.running),
    headers: {
      'Retry-After': z
        .string()
        .optional()
        .meta({
          description: 'Seconds after which to repeat a request whose `Idempotency-Key` is in use.',
          examples: [String(runningRetrySeconds)],
        }),
    },
  },
  422: failure('`Idempotency-Key` was used for another request.', texts.mismatch),
  429: failure(
    'Too many requests, or too many idempotency keys.',
    tooMany(texts.actorIsFull, fullRetrySeconds).message,
  ),
};

/** A stored response. */
interface StoredResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** @throws {LecternError} BAD_REQUEST. @returns null if the request has no key. */
function readKey(header: string): string | null {
  if (header === '') return null;
  // The draft requires quotes around the key, but most clients send none.
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (key.length > maxKeyLength || !/^[\x21-\x7e]+$/.test(key))
    throw new LecternError('BAD_REQUEST', texts.malformed);
  return key;
}

/** The parts of an endpoint's definition that {@link runOnce} uses. */
interface Definition {
  operationId: string;
  /** The request headers that are part of the fingerprint. */
  headers?: z.ZodObject;
  body?: { read?: unknown };
  responses: Responses;
}

interface ParsedRequest<Body> {
  params: unknown;
  query: unknown;
  read: () => Promise<Body>;
}

/**
 * Runs a request, unless an earlier one with its idempotency key has succeeded. It then replays the stored response, and
 * adds nothing to the audit log, because a replay changes nothing. A request without a key always runs.
 *
 * The process may crash after any step. MongoDB stores the id of the new object before the request runs, so a repeated
 * request finds the object of the first. Rejected requests (4xx) are forgotten. After other errors, the object may exist,
 * so only the lease ends.
 *
 * @param run sets the response; `newId` is the id of the object that it creates.
 */
export async function runOnce<Body>(
  { db, secrets: { keyPepper } }: IdempotencyDependencies,
  ctx: ParameterizedContext<RequestState>,
  { operationId, headers, body, responses }: Definition,
  { params, query, read }: ParsedRequest<Body>,
  run: (newId: string, read?: () => Promise<Body>) => Promise<void>,
): Promise<void> {
  const key = readKey(ctx.get('Idempotency-Key'));
  if (key === null) return run(randomUUID());
  const { organizationId, actor } = auditedCaller.get(ctx);
  const given = body?.read === undefined ? undefined : await read();
  const sent = Object.keys(headers?.shape ?? {}).map((name) => ctx.get(name));
  const hmac = (...parts: unknown[]) =>
    createHmac('sha256', keyPepper)
      .update(JSON.stringify(['idempotency', ...parts]))
      .digest('hex');
  const sender = `${actor.type}:${actor.id}`;
  // Keys are separate for each actor, so that no actor can guess and block another's key.
  const _id = hmac(organizationId, sender, key);
  // Covers the parsed request, so white space and the order of fields do not matter.
  const fingerprint = hmac(operationId, params, query, sent, given);
  const claim = await claimRequest(db, { _id, organizationId, actor: sender, fingerprint }, keyLimits);
  const scope = { purpose: 'lectern idempotency', id: _id };
  if (claim.kind === 'done') return replay(ctx, unseal(claim.response, scope, keyPepper));
  if (claim.kind !== 'claimed') throw faultOf(claim.kind);
  const lease = { _id, leaseId: claim.leaseId };
  try {
    await run(claim.newId, () => Promise.resolve(given as Body));
  } catch (error) {
    const isRejected = error instanceof LecternError && error.expose;
    // If MongoDB is unavailable, the lease expires.
    await (isRejected ? forgetRequest(db, lease) : releaseRequest(db, lease)).catch(() => undefined);
    throw error;
  }
  // The client gets its response even if Lectern cannot store it: a repeated request then runs under the same id.
  await storeResponse(db, lease, seal(responseOf(ctx, responses), scope, keyPepper)).catch((error: unknown) =>
    ctx.state.log.warn({ err: error }, 'the response to an idempotency key is not stored'),
  );
}

/** Returns the response as JSON, with its documented headers. */
function responseOf({ status, response, body }: ParameterizedContext<RequestState>, all: Responses): string {
  const documented = Object.keys((all[status] as { headers?: Headers } | undefined)?.headers ?? {});
  const headers = Object.fromEntries(documented.map((name) => [name, response.get(name)]));
  return JSON.stringify({ status, headers, text: body as string } satisfies StoredResponse);
}

function replay(ctx: ParameterizedContext<RequestState>, stored: string): void {
  const { status, headers, text } = JSON.parse(stored) as StoredResponse;
  ctx.status = status;
  ctx.set({ ...headers, 'Idempotent-Replayed': 'true' });
  ctx.type = 'application/json';
  ctx.body = text;
}

function faultOf(kind: 'running' | 'mismatch' | 'actorIsFull' | 'organizationIsFull'): LecternError {
  if (kind === 'actorIsFull' || kind === 'organizationIsFull') return tooMany(texts[kind], fullRetrySeconds);
  if (kind === 'mismatch') return new LecternError('INVALID_CONTENT', texts.mismatch);
  return new LecternError('CONFLICT', texts.running, { retryAfterSeconds: runningRetrySeconds });
}
