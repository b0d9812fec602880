import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/*
 * An origin in a separate process: serves the files of a folder from memory. With a certificate it speaks HTTP/2 over
 * TLS, otherwise HTTP/1.1. Each response begins after a delay, as from a distant host.
 *
 * Arguments: the folder, the delay in milliseconds, and the folder of the certificate, if any.
 */
const [folder = '', delayMs = '0', certificateFolder] = process.argv.slice(2);
const files = new Map(readdirSync(folder).map((name) => [`/${name}`, readFileSync(join(folder, name))]));

function respond(path: string | undefined, send: (status: number, body: Buffer) => void): void {
  const body = files.get(path ?? '');
  const begin = () => send(body === undefined ? 404 : 200, body ?? Buffer.alloc(0));
  if (delayMs === '0') begin();
  else setTimeout(begin, Number(delayMs));
}

function startHttp1() {
  return createServer((request, response) => {
    respond(request.url, (status, body) => {
      response.writeHead(status, { 'content-type': 'image/png', 'content-length': body.length }).end(body);
    });
  });
}

function startHttp2(certificate: string) {
  const read = (name: string) => readFileSync(join(certificate, name));
  const server = createSecureServer({ key: read('key.pem'), cert: read('cert.pem') });
  server.on('stream', (stream, headers) => {
    // A client that goes away resets its streams.
    stream.on('error', () => undefined);
    respond(headers[':path'], (status, body) => {
      if (stream.destroyed) return;
      stream.respond({ ':status': status, 'content-type': 'image/png', 'content-length': body.length });
      stream.end(body);
    });
  });
  return server;
}

const server = certificateFolder === undefined ? startHttp1() : startHttp2(certificateFolder);
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
