import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * An origin in a separate process: each path is a picture of a given size, which begins after a given delay, as from a
 * distant host. No two files are equal.
 */
const [bytes = 0, milliseconds = 0] = process.argv.slice(2).map(Number);
const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(bytes)]);

const server = createServer((request, response) => {
  setTimeout(() => {
    const body = Buffer.from(picture);
    body.write(request.url ?? '', 8);
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': body.length }).end(body);
  }, milliseconds);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
