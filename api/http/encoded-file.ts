import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';
import { etagOf, matchesIfNoneMatch } from './etags.ts';
import { minCompressedBytes } from './send-texts.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

const encodings = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof encodings)[number];

interface Encoded {
  bytes: Buffer;
  etag: string;
}

/** A constant file that clients request often. It compresses the file once for each encoding. */
export class EncodedFile {
  readonly #bytes: Buffer;
  readonly #isCompressed: boolean;
  readonly #encoded = new Map<Encoding, Promise<Encoded>>();

  /** @param options.isCompressed sends it as it is */
  constructor(bytes: Buffer, { isCompressed = false } = {}) {
    this.#bytes = bytes;
    this.#isCompressed = isCompressed;
  }

  /** Sends the file, or 304 if the client has it. @param type such as "text/javascript". */
  async send(ctx: Context, type: string): Promise<void> {
    // Ignores the browsers' order, which lists gzip first, because Brotli is smaller.
    const accepted = encodings.find((one) => ctx.acceptsEncodings(one) !== false) ?? 'identity';
    const isKept = this.#isCompressed || this.#bytes.length < minCompressedBytes;
    const encoding = isKept ? 'identity' : accepted;
    const { bytes, etag } = await this.#encode(encoding);
    ctx.status = 200;
    ctx.vary('Accept-Encoding');
    ctx.set('ETag', etag);
    if (matchesIfNoneMatch(ctx, etag)) {
      ctx.status = 304;
      return;
    }
    if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
    ctx.type = type;
    ctx.body = bytes;
  }

  #encode(encoding: Encoding): Promise<Encoded> {
    const known = this.#encoded.get(encoding);
    if (known !== undefined) return known;
    const encoded = compress(this.#bytes, encoding).then((bytes) => ({
      bytes,
      etag: etagOf(this.#bytes, encoding === 'identity' ? '' : `-${encoding}`),
    }));
    this.#encoded.set(encoding, encoded);
    return encoded;
  }
}

async function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'identity') return bytes;
  if (encoding === 'gzip') return compressGzip(bytes, { level: 9 });
  return compressBrotli(bytes, {
    params: {
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      // The best quality takes 20 s for 3.6 MB and saves only an eighth.
      [constants.BROTLI_PARAM_QUALITY]: bytes.length > 1024 ** 2 ? 5 : constants.BROTLI_MAX_QUALITY,
    },
  });
}
