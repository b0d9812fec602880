import type { Config } from '../platform/config.ts';
import { withTimeLimit } from '../platform/time-limits.ts';
import { hostOf } from '../platform/http/ssrf-guard.ts';
import { Connections } from '../platform/http/connections.ts';
import { faultCode, OutboundError } from '../platform/errors.ts';
import type { OutboundFault } from '../platform/errors.ts';
import { send } from '../platform/http/request.ts';
import type { OutboundResponse } from '../platform/http/request.ts';
import { parseUrl } from '../platform/parse-url.ts';

/** From the request to the end of the response. */
const defaultTimeoutMs = 10_000;
const maxBytes = 256 * 1024;

export interface PlatformRequest {
  method: 'GET' | 'POST' | 'PUT';
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** A response of any status, including redirects. */
export interface PlatformResponse {
  status: number;
  headers: { get(name: string): string | null };
  text: string;
}

/** Sends requests to learning platforms, for keys, tokens, scores and registrations, through the SSRF guard. */
export interface PlatformClient {
  /**
   * Sends a request with a timeout of 10 seconds for the whole response. Follows no redirects.
   *
   * @throws {PlatformRequestError} without a complete response; the signal's reason when it is aborted.
   */
  request(url: string, request: PlatformRequest): Promise<PlatformResponse>;
  /** Closes all connections. */
  close(): void;
}

/** A platform sent no complete response. The message names its host. */
export class PlatformRequestError extends Error {
  override readonly name = 'PlatformRequestError';
  readonly reason: OutboundFault | 'too_large';

  constructor(reason: OutboundFault | 'too_large', message: string) {
    super(message);
    this.reason = reason;
  }
}

/** @param options `timeoutMs` is for tests. */
export function createPlatformClient(
  { allowedPrivateHosts }: Pick<Config['download'], 'allowedPrivateHosts'>,
  { timeoutMs = defaultTimeoutMs }: { timeoutMs?: number } = {},
): PlatformClient {
  const connections = new Connections(allowedPrivateHosts);
  const late = () =>
    new PlatformRequestError('timeout', `The platform did not respond within ${timeoutMs / 1000} s`);
  return {
    request(url, { signal, ...request }) {
      return withTimeLimit({ timeoutMs, signal, late }, (ending) =>
        sendRequest(connections, parseAllowedUrl(url, allowedPrivateHosts), { ...request, signal: ending }),
      );
    },
    close: () => connections.close(),
  };
}

/** Returns the body of a response as JSON; undefined if it is not JSON. */
export function responseJson({ text }: Pick<PlatformResponse, 'text'>): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Requires https: requests carry tokens, and responses decide about access. Platforms name most URLs themselves, such as
 * those of line items, so each one is checked before its use.
 *
 * @throws {PlatformRequestError} blocked_address
 */
function parseAllowedUrl(text: string, allowedPrivateHosts: readonly string[]): URL {
  const url = parseUrl(text);
  if (url === null) throw new PlatformRequestError('blocked_address', 'This is not a URL');
  if (url.protocol === 'https:' || allowedPrivateHosts.includes(hostOf(url))) return url;
  const message = `${hostOf(url)} must be reached over https: ${url.protocol}// is allowed only for hosts in LECTERN_ALLOWED_PRIVATE_HOSTS`;
  throw new PlatformRequestError('blocked_address', message);
}

/** @throws as {@link PlatformClient.request} */
async function sendRequest(
  connections: Connections,
  url: URL,
  { headers = {}, signal, ...request }: PlatformRequest & { signal: AbortSignal },
): Promise<PlatformResponse> {
  signal.throwIfAborted();
  try {
    // A new connection for each request: after a POST on a connection that the platform had closed, it would be unclear
    // what arrived.
    const response = await send(url, {
      ...request,
      connections,
      owner: null,
      headers,
      unpack: true,
      signal,
    });
    try {
      const text = await readText(response, hostOf(url), signal);
      return { status: response.status, headers: { get: (name) => response.header(name) }, text };
    } finally {
      response.body.destroy();
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
    throw new PlatformRequestError(
      'network',
      `${host} did not send all of its response (${faultCode(error)})`,
    );
  }
  return Buffer.concat(chunks).toString();
}
