import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useStarted } from '../support/use.ts';
import type { Behavior } from '../support/origin.ts';

/** A request that a receiver got, as it arrived. */
export interface ReceivedEvent {
  path: string;
  headers: Record<string, string>;
  /** The bytes that are signed. */
  text: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
  atMs: number;
}

export const useReceiver = () => useStarted(startReceiver, (receiver) => receiver.close());

/** An integrator's server: returns 204, or plays a behavior for each request at a path; the last one repeats. */
async function startReceiver() {
  const received: ReceivedEvent[] = [];
  const scripts = new Map<string, Behavior[]>();
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const path = request.url ?? '';
    const headers = request.headers as Record<string, string>;
    received.push({ path, headers, text, body: JSON.parse(text) as ReceivedEvent['body'], atMs: Date.now() });
    const script = scripts.get(path);
    const behavior = (script !== undefined && script.length > 1 ? script.shift() : script?.[0]) ?? noContent;
    await behavior(request, response);
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    received,
    /** How many connections it got. */
    get connections() {
      return connections;
    },
    url: (path = '/hook') => `http://127.0.0.1:${port}${path}`,
    script: (path: string, ...behaviors: [Behavior, ...Behavior[]]) => void scripts.set(path, behaviors),
    of: (type: string, path = '/hook') =>
      received.filter((event) => event.body.type === type && event.path === path),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const noContent: Behavior = (_request, response) => void response.writeHead(204).end();
