import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { CallTimeout, TruncatedBody } from './faults.ts';

/** The largest head of a response: status line and headers. */
const maxHeadBytes = 32 * 1024;

/** A range of an object to request with a presigned URL, from `start` up to but not including `end`. */
export interface PlainRequest {
  /** Of a service without TLS. */
  url: string;
  start: number;
  end: number;
}

export interface PlainOptions {
  /** The memory for all bytes; larger ones need fewer system calls. */
  buffer: Buffer;
  /** The timeout of the connection and of the response's head. */
  callTimeoutMs: number;
  /** The timeout of each byte after the head; the writer's own time does not count. */
  idleTimeoutMs: number;
  /** Gets each chunk after the previous write resolved; its memory is then reused. */
  write: (chunk: Uint8Array) => Promise<void>;
}

/**
 * Requests a range of an object over a new connection, and passes the bytes to `write` in reused memory. Node's
 * HTTP client allocates 64 KiB for each read, and passes them through two streams: that takes four times the CPU time.
 *
 * @throws for every response but the requested range, and when the connection or `write` fails. Some bytes may have been
 * written before.
 */
export function sendPlain(request: PlainRequest, options: PlainOptions): Promise<void> {
  const { hostname, port } = new URL(request.url);
  return new Promise((resolve, reject) => {
    const body = new PlainBody(request, options);
    let taking: Promise<unknown> = Promise.resolve();
    const { callTimeoutMs, idleTimeoutMs } = options;
    const headEndsAt = performance.now() + callTimeoutMs;
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    const wait = () => {
      const [timeoutMs, leftMs] = body.hasBegun
        ? [idleTimeoutMs, idleTimeoutMs]
        : [callTimeoutMs, headEndsAt - performance.now()];
      timer = setTimeout(() => fail(new CallTimeout(timeoutMs)), leftMs);
    };
    const end = () => {
      ended = true;
      clearTimeout(timer);
      socket.destroy();
    };
    const fail = (error: Error) => {
      if (ended) return;
      end();
      // The caller must know how many bytes were written.
      taking.then(() => reject(error), reject);
    };
    const take = async (bytes: Buffer) => {
      const isComplete = await body.take(bytes);
      if (ended) return;
      if (isComplete) {
        end();
        resolve();
      } else {
        wait();
        socket.resume();
      }
    };
    const socket: Socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 80),
      onread: {
        buffer: options.buffer,
        callback: (length) => {
          clearTimeout(timer);
          taking = take(options.buffer.subarray(0, length));
          taking.catch(fail);
          // Pauses the socket, because the bytes are still in use.
          return false;
        },
      },
    });
    wait();
    socket.on('error', fail);
    socket.on('end', () => fail(new TruncatedBody('the connection ended early')));
    socket.on('close', () => fail(new TruncatedBody('the connection closed early')));
    socket.write(headOf(request));
  });
}

function headOf({ url, start, end }: PlainRequest): string {
  const { pathname, search, host } = new URL(url);
  const lines = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, `Range: bytes=${start}-${end - 1}`];
  return `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`;
}

/** Separates the head of a response from its body. */
class PlainBody {
  readonly #request: PlainRequest;
  readonly #write: PlainOptions['write'];
  /** The head so far; null when it is complete. */
  #head: Buffer | null = Buffer.alloc(0);
  #left: number;

  constructor(request: PlainRequest, { write }: PlainOptions) {
    this.#request = request;
    this.#write = write;
    this.#left = request.end - request.start;
  }

  /** Whether the head is complete. */
  get hasBegun(): boolean {
    return this.#head === null;
  }

  /** Takes the next bytes of the connection; returns whether the body is complete. */
  async take(bytes: Buffer): Promise<boolean> {
    const chunk = this.#head === null ? bytes : this.#takeHead(this.#head, bytes);
    if (chunk.byteLength > this.#left) throw new Error('the service sent more bytes than requested');
    this.#left -= chunk.byteLength;
    if (chunk.byteLength > 0) await this.#write(chunk);
    return this.#head === null && this.#left === 0;
  }

  /** Returns the bytes after the head. */
  #takeHead(head: Buffer, bytes: Buffer): Buffer {
    // A copy, because the memory is reused for the rest of the head.
    const all = Buffer.concat([head, bytes.subarray(0, maxHeadBytes)]);
    const length = all.indexOf('\r\n\r\n') + 4;
    if (length < 4) {
      if (all.byteLength >= maxHeadBytes) throw new Error('the head of the response is too large');
      this.#head = all;
      return bytes.subarray(bytes.byteLength);
    }
    requirePart(all.toString('latin1', 0, length), this.#request);
    this.#head = null;
    return bytes.subarray(length - head.byteLength);
  }
}

/** @throws if the response is anything but the requested bytes, with their length and without an encoding. */
function requirePart(head: string, { start, end }: PlainRequest): void {
  const [status = '', ...lines] = head.trimEnd().split('\r\n');
  const headers = lines.map((line) => /^([\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line)?.slice(1) ?? ['', '']);
  const valuesOf = (wanted: string) =>
    headers.filter(([name]) => name?.toLowerCase() === wanted).map(([, value]) => value);
  const range = valuesOf('content-range');
  const isPart =
    /^HTTP\/1\.1 206(?: |$)/.test(status) &&
    range.length === 1 &&
    range[0]?.startsWith(`bytes ${start}-${end - 1}/`) === true &&
    valuesOf('content-length').join() === String(end - start) &&
    valuesOf('transfer-encoding').length + valuesOf('content-encoding').length === 0 &&
    headers.every(([name]) => name !== '');
  if (!isPart) throw new Error(`unexpected response: ${status}`);
}
