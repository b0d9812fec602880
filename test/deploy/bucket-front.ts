import { createServer, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server between a proxy and the bucket. */
export interface BucketFront {
  /** Such as 127.0.0.1:40123. */
  host: string;
  /** The requests since the last {@link BucketFront.reset}. */
  requests: { method: string; url: string; headers: IncomingHttpHeaders }[];
  /** Answers requests instead of the bucket. */
  respond: ((response: ServerResponse) => void) | null;
  /** Added to the bucket's responses. */
  headers: Record<string, string | string[]>;
  reset(): void;
  close(): Promise<void>;
}

/** Starts a server that passes requests on to a bucket, records them, and misbehaves on request. */
export async function startBucketFront(bucket: string): Promise<BucketFront> {
  const server = createServer((received, response) => {
    front.requests.push({
      method: received.method ?? '',
      url: received.url ?? '',
      headers: received.headers,
    });
    if (front.respond === null) pass(received, response);
    else front.respond(response);
  });
  const pass = ({ method, url, headers }: IncomingMessage, response: ServerResponse) => {
    const { hostname, port } = new URL(bucket);
    const sent = request({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, { ...answer.headers, ...front.headers });
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy());
    sent.end();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const front: BucketFront = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    respond: null,
    headers: {},
    reset() {
      front.requests.length = 0;
      front.respond = null;
      front.headers = {};
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return front;
}
