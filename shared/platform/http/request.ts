import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import fetch, { type RequestInit, type Response } from 'node-fetch';
import { hostOf, notPublicCode } from './ssrf-guard.ts';
import { faultCode, OutboundError } from './failure.ts';

/** What is left of an answer that nobody wants is read to keep its connection, if it is no longer than this. */
const smallBytes = 16 * 1024;
const smallBodyMs = 1000;

/** The answer to one request: its status and headers are here, its body is not. */
export interface OutboundResponse {
  status: number;
  header(name: string): string | null;
  /** The Content-Length, null without one. */
  length: number | null;
  body: Readable;
}

export interface OutboundRequest {
  /** Of `Connections`: says whether the host may be asked at all. */
  agent: Agent;
  headers: Record<string, string>;
  method?: 'GET' | 'POST' | 'PUT';
  body?: string;
  /** Unpacks a body that was compressed although none is asked for; without it the body stays as it came. */
  unpack?: boolean;
  signal: AbortSignal;
}

/**
 * Sends one request and follows nothing.
 *
 * @throws {OutboundError} or the reason of the signal.
 */
export async function send(
  url: URL,
  { headers, unpack = false, ...init }: OutboundRequest,
): Promise<OutboundResponse> {
  let response: Response;
  try {
    const request: RequestInit = {
      ...init,
      redirect: 'manual',
      compress: unpack,
      headers: { 'User-Agent': 'Lectern', 'Accept-Encoding': 'identity', ...headers },
    };
    response = await fetch(url, request);
  } catch (error) {
    if (init.signal.aborted) throw init.signal.reason;
    throw explain(hostOf(url), faultCode(error));
  }
  const length = response.headers.get('content-length');
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    length: length === null ? null : Number(length),
    // The types of node-fetch leave open what its code does not: an answer over HTTP has a Readable.
    body: response.body as Readable,
  };
}

/** Ends the reading of an answer, read or not: its connection is kept if that costs little, else closed. */
export function release({ body, length }: Pick<OutboundResponse, 'body' | 'length'>): void {
  if (length === null || length > smallBytes) {
    body.destroy();
    return;
  }
  if (body.destroyed) return;
  body.resume();
  const timer = setTimeout(() => body.destroy(), smallBodyMs).unref();
  // It would keep all of a request for a second, after many small files a second.
  body.once('close', () => clearTimeout(timer));
}

function explain(host: string, code: string): OutboundError {
  if (code === notPublicCode) return new OutboundError('blocked_address', `${host} is not a public address`);
  if (code === 'ETIMEDOUT') return new OutboundError('timeout', `${host} did not answer`);
  return new OutboundError('network', `${host} could not be asked (${code})`);
}
