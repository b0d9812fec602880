import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** An origin in a separate process: serves the files of a folder from memory. */
const folder = process.argv[2] ?? '';
const files = new Map(readdirSync(folder).map((name) => [`/${name}`, readFileSync(join(folder, name))]));

const server = createServer((request, response) => {
  const body = files.get(request.url ?? '');
  if (body === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': 'image/png', 'content-length': body.length }).end(body);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
