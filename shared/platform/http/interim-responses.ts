import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/*
 * Servers may send interim responses (100, 102, 103) before the final one, unasked: RFC 9110, section 15.2. undici
 * closes the connection at a 100, and takes any number of the others. Here they are removed from what it reads.
 */

/** The limits for one final response. Servers that send more are broken or hostile. */
const maxResponses = 16;
const maxHeadBytes = 16 * 1024;

/** Leaves out interim responses over HTTP/1.1; Node.js does so over HTTP/2. */
export function withoutInterimResponses(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) => {
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error === null && !('alpnProtocol' in socket && socket.alpnProtocol === 'h2')) filter(socket);
      callback(...result);
    });
  };
}

/** undici writes a request only when the last response has ended, so what it reads next begins a response. */
function filter(socket: Socket): void {
  let head: ResponseHead | null = null;
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.write = (...given: unknown[]) => {
    head ??= new ResponseHead();
    return write(...given);
  };
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null || head === null) return chunk;
      const rest = head.add(chunk);
      if (rest === 'too many') {
        socket.destroy(
          Object.assign(new Error('Too many interim responses'), { code: 'ERR_INTERIM_RESPONSES' }),
        );
        return null;
      }
      if (rest !== null) {
        head = null;
        return rest;
      }
    }
  };
}

/** The part of a response that arrives before its final status line. */
class ResponseHead {
  #waiting: Buffer = Buffer.alloc(0);
  #responses = 0;

  /** Returns the bytes from the final response on; null while more are needed to find it. */
  add(chunk: Buffer): Buffer | 'too many' | null {
    this.#waiting = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
    for (;;) {
      const start = this.#waiting.toString('latin1', 0, 'HTTP/1.1 100'.length);
      if (!isInterim(start)) return this.#waiting;
      const end = this.#waiting.indexOf('\r\n\r\n');
      if (end < 0) return this.#waiting.length > maxHeadBytes ? 'too many' : null;
      this.#waiting = this.#waiting.subarray(end + 4);
      this.#responses += 1;
      if (this.#responses > maxResponses) return 'too many';
    }
  }
}

/** Returns whether bytes begin an interim response, or may do so. 101 is final: it switches protocols. */
function isInterim(start: string): boolean {
  if (start.length < 'HTTP/1.1 100'.length)
    return ['HTTP/1.1 1', 'HTTP/1.0 1'].some((begin) => begin.startsWith(start.slice(0, begin.length)));
  return /^HTTP\/1\.[01] 1\d\d/.test(start) && !start.endsWith('101');
}
