import type { LookupFunction } from 'node:net';
import { Connections } from '../../shared/platform/http/connections.ts';
import { OutboundError } from '../../shared/platform/errors.ts';
import { send } from '../../shared/platform/http/request.ts';
import type { OutboundResponse } from '../../shared/platform/http/request.ts';
import { hostOf } from '../../shared/platform/http/ssrf-guard.ts';
import { withDeadline, withTimeLimit } from '../../shared/platform/time-limits.ts';

/** The timeout from the request to the headers of the response. */
const timeoutMs = 15_000;

/** Only people read the body of a response, so its beginning is enough. */
const maxResponseBytes = 4096;
const maxResponseMs = 1_000;

/** A response of any status, with the beginning of its body. */
export interface PostResponse {
  status: number;
  retryAfter: string | null;
  text: string;
}

/** A request to post JSON. */
export interface OutboundPost {
  headers: Record<string, string>;
  body: string;
  /** The private hosts that it may reach, as `host:port`. */
  privateHosts: readonly string[];
  signal: AbortSignal;
  /** Resolves host names; by default, the system does. */
  lookup?: LookupFunction | undefined;
}

/**
 * Posts JSON to a receiver that a tenant has chosen, through the SSRF guard. Follows no redirect. Limits the time and
 * memory that slow or verbose receivers take.
 *
 * @throws {OutboundError} without a response; the signal's reason.
 */
export async function postJson(
  url: URL,
  { headers, body, privateHosts, signal, lookup }: OutboundPost,
): Promise<PostResponse> {
  const connections = new Connections(privateHosts, lookup);
  const late = () =>
    new OutboundError('timeout', `${hostOf(url)} did not respond within ${timeoutMs / 1000} s`);
  try {
    // Checked again before each request: the settings may have changed since the URL was stored.
    if (url.protocol !== 'https:' && !privateHosts.includes(hostOf(url))) {
      throw new OutboundError('blocked_address', `${hostOf(url)} must be reached over https`);
    }
    return await withTimeLimit({ timeoutMs, signal, late }, async (ending) => {
      const response = await send(url, {
        ...{ method: 'POST' as const, connections, useNewConnection: true, body, signal: ending },
        headers: { 'Content-Type': 'application/json', ...headers },
      });
      const { status } = response;
      return { status, retryAfter: response.header('retry-after'), text: await readBeginning(response) };
    });
  } finally {
    connections.close();
  }
}

/**
 * Returns the part of a body that arrives within the timeout, up to the size limit. Ignores failures, because the
 * status alone decides.
 */
async function readBeginning({ body }: OutboundResponse): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const read = async () => {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxResponseBytes - size));
      size += chunk.length;
      if (size >= maxResponseBytes) return;
    }
  };
  const reading = read().catch(() => undefined);
  await withDeadline(reading, { timeoutMs: maxResponseMs, late: () => undefined });
  body.destroy();
  // NUL characters are useless in lists and logs.
  return Buffer.concat(chunks).toString().replaceAll('\u0000', '');
}
