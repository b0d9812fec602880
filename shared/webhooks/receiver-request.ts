import type { LookupFunction } from 'node:net';
import { Connections } from '../platform/http/connections.ts';
import { faultCode, OutboundError } from '../platform/errors.ts';
import { isSuccess, send } from '../platform/http/request.ts';
import type { OutboundResponse } from '../platform/http/request.ts';
import { hostOf } from '../platform/http/ssrf-guard.ts';
import { withDeadline, withTimeLimit } from '../platform/time-limits.ts';

/** The timeout from the request to the headers of the response. */
const timeoutMs = 15_000;

/** Only people read the body of a response, so its beginning is enough. */
const maxResponseBytes = 4096;
const maxResponseMs = 1_000;

/** A response of any status, with the beginning of its body. */
export interface ReceiverResponse {
  status: number;
  retryAfter: string | null;
  text: string;
}

/** A request to a receiver: a POST of JSON if it has a body, else a GET. */
export interface ReceiverRequest {
  headers: Record<string, string>;
  body?: string;
  /** The private hosts that it may reach, as `host:port`. */
  privateHosts: readonly string[];
  signal?: AbortSignal | undefined;
  /** Resolves host names; by default, the system does. */
  lookup?: LookupFunction | undefined;
  /** Whether the body of a success matters. Otherwise the status alone decides, and a broken body is no fault. */
  needsBody?: boolean;
}

/**
 * Sends a request to a receiver that a tenant has chosen, through the SSRF guard. Follows no redirect. Limits the time
 * and memory that slow or verbose receivers take.
 *
 * @throws {OutboundError} without a response; the signal's reason.
 */
export async function requestReceiver(
  url: URL,
  { headers, body, privateHosts, signal, lookup, needsBody = false }: ReceiverRequest,
): Promise<ReceiverResponse> {
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
        ...{ connections, owner: null, unpack: true, signal: ending },
        ...(body === undefined
          ? { headers }
          : { method: 'POST' as const, body, headers: { 'Content-Type': 'application/json', ...headers } }),
      });
      const { status } = response;
      const reading = readBeginning(response);
      const text =
        needsBody && isSuccess(status) ? await allOf(reading, url) : await untilDeadline(reading, response);
      return { status, retryAfter: response.header('retry-after'), text };
    });
  } finally {
    connections.close();
  }
}

/** The beginning of a body, as far as it has arrived. */
interface Beginning {
  chunks: Buffer[];
  /** Resolves when the size limit or the end is reached; rejects if the body breaks off. */
  ended: Promise<void>;
}

function readBeginning({ body }: OutboundResponse): Beginning {
  const chunks: Buffer[] = [];
  const read = async () => {
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxResponseBytes - size));
      size += chunk.length;
      if (size >= maxResponseBytes) return;
    }
  };
  return { chunks, ended: read() };
}

/** @throws {OutboundError} network, if the body breaks off. */
async function allOf({ chunks, ended }: Beginning, url: URL): Promise<string> {
  try {
    await ended;
  } catch (error) {
    const message = `${hostOf(url)} did not send all of its response (${faultCode(error)})`;
    throw new OutboundError('network', message);
  }
  return textOf(chunks);
}

/** Returns what arrives within the timeout; ignores failures. */
async function untilDeadline({ chunks, ended }: Beginning, { body }: OutboundResponse): Promise<string> {
  const reading = ended.catch(() => undefined);
  await withDeadline(reading, { timeoutMs: maxResponseMs, late: () => undefined });
  body.destroy();
  return textOf(chunks);
}

/** NUL characters are useless in lists and logs. */
function textOf(chunks: Buffer[]): string {
  return Buffer.concat(chunks).toString().replaceAll('\u0000', '');
}
