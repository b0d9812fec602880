import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Responses by path, base64, which this process sends as they are. */
export type StaticBytes = Record<string, { headers: Record<string, string>; body: string }>;

/* The baseline of requests: a plain node:http server that sends compressed bytes from memory. */
process.once('message', (responses: StaticBytes) => {
  const bodies = new Map(
    Object.entries(responses).map(([path, { headers, body }]) => [
      path,
      { headers, body: Buffer.from(body, 'base64') },
    ]),
  );
  const server = createServer((request, response) => {
    const { headers, body } = bodies.get(request.url?.split('?')[0] ?? '') ?? {};
    response.writeHead(body === undefined ? 404 : 200, headers).end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
});
process.on('disconnect', () => process.exit());
