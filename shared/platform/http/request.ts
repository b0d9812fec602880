import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import fetch, { type RequestInit, type Response } from 'node-fetch';
import { hostOf, notPublicCode } from './ssrf-guard.ts';
import { faultCode, OutboundError } from './failure.ts';

/** An unwanted rest of a response is drained to keep the connection, if it is no larger and takes no longer. */
const maxDrainBytes = 16 * 1024;
const maxDrainMs = 1000;

/** A response whose headers have arrived, and whose body may not have. */
export interface OutboundResponse {
  status: number;
  header(name: string): string | null;
  /** The Content-Length; null without one. */
  length: number | null;
  body: Readable;
}

export interface OutboundRequest {
  /** From `Connections`, which checks that the host is allowed. */
  agent: Agent;
  headers: Record<string, string>;
  method?: 'GET' | 'POST' | 'PUT';
  body?: string;
  /** Decompresses a body that the server compressed without being asked; otherwise it stays compressed. */
  unpack?: boolean;
  signal: AbortSignal;
}

/** Sends a request; follows no redirects. @throws {OutboundError} or the reason of the signal. */
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
    // The types of node-fetch are wider than its code: over HTTP, the body is always a Readable.
    body: response.body as Readable,
  };
}

/** Discards the rest of a response. Keeps its connection if draining is cheap, else closes it. */
export function release({ body, length }: Pick<OutboundResponse, 'body' | 'length'>): void {
  if (length === null || length > maxDrainBytes) {
    body.destroy();
    return;
  }
  if (body.destroyed) return;
  body.resume();
  const timer = setTimeout(() => body.destroy(), maxDrainMs).unref();
  // Otherwise the timer would keep the request in memory, which adds up with many small files.
  body.once('close', () => clearTimeout(timer));
}

function explain(host: string, code: string): OutboundError {
  if (code === notPublicCode) return new OutboundError('blocked_address', `${host} is not a public address`);
  if (code === 'ETIMEDOUT') return new OutboundError('timeout', `${host} did not answer`);
  return new OutboundError('network', `The request to ${host} failed (${code})`);
}
