import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import fetch, { type Response } from 'node-fetch';
import { hostOf, notPublicCode } from './addresses.ts';
import { DownloadError, faultCode } from './failure.ts';

/** What is left of an answer that nobody wants is read to keep its connection, if it is no longer than this. */
const smallBytes = 16 * 1024;
const smallBodyMs = 1000;

/** The answer to one GET: its status and headers are here, its body is not. */
export interface Answer {
  status: number;
  header(name: string): string | null;
  /** The Content-Length, null without one. */
  length: number | null;
  body: Readable;
}

/**
 * Sends one GET and follows nothing.
 *
 * @throws {DownloadError} `blocked_address`, `timeout` or `network`, or the reason of the signal.
 */
export async function get(
  url: URL,
  agent: Agent,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(url, {
      agent,
      signal,
      redirect: 'manual',
      compress: false,
      headers: { 'User-Agent': 'Lectern', 'Accept-Encoding': 'identity', ...headers },
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
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
export function release({ body, length }: Answer): void {
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

function explain(host: string, code: string): DownloadError {
  if (code === notPublicCode) return new DownloadError('blocked_address', `${host} is not a public address`);
  if (code === 'ETIMEDOUT') return new DownloadError('timeout', `${host} did not answer`);
  return new DownloadError('network', `${host} could not be asked (${code})`);
}
