import { createHmac, hkdfSync } from 'node:crypto';
import type { Webhook } from '../models/webhook.ts';
import { LecternError } from '../platform/errors.ts';
import { seal, unseal } from '../platform/seal.ts';

const prefix = 'whsec_';
const secretBytes = 32;

/**
 * Derives a secret in the format of Standard Webhooks 1.0.0 from an id. A request that is repeated with its idempotency
 * key gets the same secret.
 *
 * @param id a random id.
 */
export function deriveWebhookSecret(id: string, pepper: string): string {
  const bytes = hkdfSync('sha256', pepper, id, 'lectern webhook secret', secretBytes);
  return prefix + Buffer.from(bytes).toString('base64');
}

export function sealWebhookSecret(secret: string, webhookId: string, pepper: string): string {
  return seal(secret, sealScope(webhookId), pepper);
}

/**
 * Returns the secrets that sign a webhook's deliveries now: the current one, and during a rotation the previous one,
 * unless it was sealed with a pepper that is lost.
 *
 * @throws {LecternError} INTERNAL_ERROR if they were sealed with another LECTERN_KEY_PEPPER.
 */
export function openWebhookSecrets(
  { _id, secret, previousSecret, previousSecretUntil }: Webhook,
  pepper: string,
  now = new Date(),
): string[] {
  const open = (sealed: string) => unseal(sealed, sealScope(_id), pepper);
  let current: string;
  try {
    current = open(secret);
  } catch (error) {
    throw new LecternError(
      'INTERNAL_ERROR',
      'The secrets of webhooks were sealed with another LECTERN_KEY_PEPPER. Set it to its earlier value, or rotate ' +
        'the secret of each webhook.',
      { cause: error },
    );
  }
  if (previousSecret === null || previousSecretUntil === null || previousSecretUntil <= now) return [current];
  try {
    return [current, open(previousSecret)];
  } catch {
    return [current];
  }
}

/**
 * Returns the headers that sign a delivery (Standard Webhooks 1.0.0): HMAC-SHA256 over id, time and body.
 *
 * @param message.id holds no dot.
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, body, at }: { id: string; body: string; at: Date },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function sealScope(id: string) {
  return { purpose: 'lectern webhooks', id };
}
