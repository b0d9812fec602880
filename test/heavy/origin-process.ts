import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { generateBytes } from './generated-bytes.ts';

// An origin in a separate process, so that its work counts for no other: /<index>/<size> is a generated file. It exits
// with its parent.
const server = createServer((request, response) => {
  const [, index, size] = /^\/(\d+)\/(\d+)$/.exec(request.url ?? '') ?? [];
  if (index === undefined || size === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-length': size });
  Readable.from(generateBytes(Number(index), Number(size))).pipe(response);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
