import type { WebhookEvent } from './api.ts';
import { VerificationError } from './errors.ts';
import { webCrypto } from './http.ts';

export interface WebhookRequest {
  /** As it arrived: before a framework parses it. */
  body: string | Uint8Array;
  /** `Headers`, or the object that Node.js frameworks have. */
  headers: { get(name: string): string | null } | Record<string, string | string[] | undefined>;
}

export interface VerifyOptions {
  /** The largest difference between the request's time and this machine's clock; 300 seconds by default. */
  toleranceSeconds?: number;
}

const encoder = new TextEncoder();

/**
 * Checks the signature of a request from Lectern (Standard Webhooks), and returns its event. Store `id`: a repeated
 * delivery of an event has the same one.
 *
 * @param secret the `whsec_…` of the webhook.
 * @throws {VerificationError} INVALID_SIGNATURE: respond with 400, and do nothing else.
 */
export async function verifyWebhook(
  { body, headers }: WebhookRequest,
  secret: string,
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<WebhookEvent & { id: string }> {
  const header = (name: string): string => {
    const value =
      typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : '';
  };
  const id = header('webhook-id');
  const timestamp = header('webhook-timestamp');
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (id === '' || !/^\d+$/.test(timestamp)) throw invalid('The request has no webhook headers');
  if (ageSeconds > toleranceSeconds)
    throw invalid(`The request is ${Math.round(ageSeconds)} seconds off this clock`);
  const { subtle } = await webCrypto();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await subtle.importKey('raw', bytesOf(secret.replace(/^whsec_/, '')), algorithm, false, [
    'verify',
  ]);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = encoder.encode(`${id}.${timestamp}.${text}`);
  for (const signature of header('webhook-signature').split(' ')) {
    const given = /^v1,([A-Za-z\d+/]{43}=)$/.exec(signature)?.[1];
    if (given !== undefined && (await subtle.verify('HMAC', key, bytesOf(given), signed))) {
      return { ...(JSON.parse(text) as WebhookEvent), id };
    }
  }
  throw invalid('No signature of the request fits the secret');
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function invalid(message: string): VerificationError {
  return new VerificationError('INVALID_SIGNATURE', message);
}
