import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** The handling of a request to the S3 server. */
export type Fault =
  /** The request arrives and gets its response. */
  | 'none'
  /** The connection ends without a response. */
  | 'dropped'
  /** The request takes effect, and its response is lost. */
  | 'answer lost'
  /** The response never begins. */
  | 'silence'
  /** 503, as a throttling S3 service returns. */
  | 'busy'
  /** The response's body ends after so many bytes: with the connection, or as if complete. */
  | { bodyEndsAfter: number; asIfWhole?: boolean }
  /** The response's body stalls after so many bytes, on an open connection. */
  | { bodyStallsAfter: number };

export type S3Proxy = Awaited<ReturnType<typeof startS3Proxy>>;

/** Starts a proxy in front of an S3 server, which causes faults, until the end of the test. */
export async function startS3Proxy(target: string, prefix: string) {
  const requests: string[] = [];
  const scripts: { start: string; faults: Fault[] }[] = [];
  let goneAfter = Infinity;
  const next = (request: string): Fault => {
    if (requests.length > goneAfter) return 'dropped';
    return (
      scripts.find(({ start, faults }) => request.startsWith(start) && faults.length > 0)?.faults.shift() ??
      'none'
    );
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', target);
    const name = `${request.method} ${pathname.split('/').slice(2).join('/').replace(prefix, '')}`;
    requests.push(name);
    answer(next(name), target, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    /** For S3_ENDPOINT. */
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** `GET v1/archives/x`, in order of arrival; without bucket, prefix and query. */
    requests,
    /** Causes one fault for each request that begins with a text, in turn; later requests succeed. */
    script: (start: string, ...faults: Fault[]) => scripts.push({ start, faults }),
    /** Drops all requests until `back`, now or after so many more. */
    gone(this: void, after = 0) {
      goneAfter = requests.length + after;
      if (after === 0) server.closeAllConnections();
    },
    back(this: void) {
      goneAfter = Infinity;
    },
  };
}

function answer(fault: Fault, target: string, request: IncomingMessage, response: ServerResponse): void {
  if (fault === 'dropped') return void request.destroy();
  if (fault === 'silence') return;
  if (fault === 'busy') {
    request.resume();
    const body =
      '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your rate.</Message></Error>';
    response.writeHead(503, { 'Content-Type': 'application/xml' }).end(body);
    return;
  }
  // The host is part of the signature, so it stays unchanged.
  const passed = forward(new URL(request.url ?? '/', target), {
    method: request.method ?? 'GET',
    headers: request.headers,
    agent: false,
  });
  passed.on('error', () => response.destroy());
  passed.on('response', (from) => {
    if (fault === 'answer lost') return void from.resume().on('end', () => response.destroy());
    pass(from, response, fault);
  });
  request.pipe(passed);
}

function pass(from: IncomingMessage, response: ServerResponse, fault: Fault): void {
  if (typeof fault === 'string') {
    response.writeHead(from.statusCode ?? 500, from.headers);
    from.pipe(response);
    return;
  }
  const limit = 'bodyEndsAfter' in fault ? fault.bodyEndsAfter : fault.bodyStallsAfter;
  const headers = { ...from.headers };
  if ('bodyEndsAfter' in fault && fault.asIfWhole === true) headers['content-length'] = String(limit);
  response.writeHead(from.statusCode ?? 500, headers);
  response.flushHeaders();
  let sent = 0;
  from.on('data', (chunk: Buffer) => {
    if (sent > 0 && sent >= limit) return;
    const part = chunk.subarray(0, limit - sent);
    sent += part.length;
    response.write(part, () => {
      if (sent < limit || !('bodyEndsAfter' in fault)) return;
      if (fault.asIfWhole === true) response.end();
      else response.destroy();
    });
  });
}
