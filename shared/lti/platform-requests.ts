import type { Config } from '../platform/config.ts';
import { withTimeLimit } from '../platform/time-limits.ts';
import { hostOf } from '../platform/http/ssrf-guard.ts';
import { Connections } from '../platform/http/connections.ts';
import { faultCode, OutboundError } from '../platform/http/failure.ts';
import type { OutboundFault } from '../platform/http/failure.ts';
import { send } from '../platform/http/request.ts';
import type { OutboundResponse } from '../platform/http/request.ts';
import { parseUrl } from '../platform/parse-url.ts';

/** How long a platform may take for a whole answer, and how much it may send. */
const deadlineMs = 10_000;
const maxBytes = 256 * 1024;

export interface PlatformRequest {
  method: 'GET' | 'POST' | 'PUT';
  headers?: Record<string, string>;
  body?: string;
  /** Ends the request early. */
  signal?: AbortSignal;
}

/** Any answer, whatever its status; a redirect is one too. */
export interface PlatformResponse {
  status: number;
  headers: { get(name: string): string | null };
  text: string;
}

/** Asks learning platforms: their keys, tokens, scores and registrations. */
export interface PlatformClient {
  /**
   * Sends one request, within 10 seconds from its beginning to the end of the answer, and follows no redirect.
   *
   * @throws {PlatformRequestError} when there is no whole answer; the signal's reason when it is aborted.
   */
  request(url: string, request: PlatformRequest): Promise<PlatformResponse>;
  /** Closes all connections. */
  close(): void;
}

/** A platform gave no answer. The message names its host. */
export class PlatformRequestError extends Error {
  override readonly name = 'PlatformRequestError';
  readonly reason: OutboundFault | 'too_large';

  constructor(reason: OutboundFault | 'too_large', message: string) {
    super(message);
    this.reason = reason;
  }
}

/** @param internals what a test replaces. */
export function createPlatformClient(
  { allowedPrivateHosts }: Pick<Config['download'], 'allowedPrivateHosts'>,
  internals: { deadlineMs?: number } = {},
): PlatformClient {
  const connections = new Connections(allowedPrivateHosts);
  const { deadlineMs: milliseconds = deadlineMs } = internals;
  const late = () =>
    new PlatformRequestError('timeout', `The platform did not answer within ${milliseconds / 1000} s`);
  return {
    request(address, { signal, ...request }) {
      return withTimeLimit({ timeoutMs: milliseconds, signal, late }, (ending) =>
        ask(connections, toAllowedUrl(address, allowedPrivateHosts), { ...request, signal: ending }),
      );
    },
    close: () => connections.close(),
  };
}

/** The body of an answer as JSON; undefined where it is none. */
export function responseJson({ text }: Pick<PlatformResponse, 'text'>): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Requests carry tokens, and answers decide who is let in: neither may be read or changed on the way. Platforms name
 * most addresses themselves, such as those of line items, so each one is checked when it is used.
 *
 * @throws {PlatformRequestError} blocked_address
 */
function toAllowedUrl(address: string, allowedPrivateHosts: readonly string[]): URL {
  const url = parseUrl(address);
  if (url === null) throw new PlatformRequestError('blocked_address', 'This is not a URL');
  if (url.protocol === 'https:' || allowedPrivateHosts.includes(hostOf(url))) return url;
  const message = `${hostOf(url)} must be reached over https: ${url.protocol}// is allowed only for hosts in LECTERN_ALLOWED_PRIVATE_HOSTS`;
  throw new PlatformRequestError('blocked_address', message);
}

/** @throws as {@link PlatformClient.request} */
async function ask(
  connections: Connections,
  url: URL,
  { headers = {}, signal, ...request }: PlatformRequest & { signal: AbortSignal },
): Promise<PlatformResponse> {
  signal.throwIfAborted();
  try {
    // Requests are few, and a kept connection may have been given up by then: who posts would not know what arrived.
    const agent = connections.agentFor(url, true);
    const answer = await send(url, { ...request, agent, headers, unpack: true, signal });
    try {
      const text = await readText(answer, hostOf(url), signal);
      return { status: answer.status, headers: { get: (name) => answer.header(name) }, text };
    } finally {
      answer.body.destroy();
    }
  } catch (error) {
    if (error instanceof OutboundError) throw new PlatformRequestError(error.reason, error.message);
    throw error;
  }
}

async function readText({ body }: OutboundResponse, host: string, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) {
        throw new PlatformRequestError('too_large', `${host} sent more than ${maxBytes} bytes`);
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof PlatformRequestError) throw error;
    throw new PlatformRequestError('network', `${host} did not send all of its answer (${faultCode(error)})`);
  }
  return Buffer.concat(chunks).toString();
}
