import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import mime from 'mime-types';

/** A static server in a separate process: serves the files of a folder from memory. */
const folder = process.argv[2] ?? '';
const files = new Map(
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const type = mime.contentType(entry.name) || 'application/octet-stream';
      return [`/${relative(folder, path)}`, { type, body: readFileSync(path) }];
    }),
);

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const file = files.get(pathname);
  if (file === undefined) response.writeHead(404).end();
  else
    response.writeHead(200, { 'content-type': file.type, 'content-length': file.body.length }).end(file.body);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
