import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { OpenFile } from '../../shared/storage/store.ts';
import { matchesIfNoneMatch } from '../http/etags.ts';
import { minCompressedBytes } from '../http/send-texts.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Larger files are sent uncompressed, because compressing them would take memory and time from all clients. */
const maxBytes = 2 * 1024 ** 2;
const maxCachedBytes = 32 * 1024 ** 2;

const textTypes = /^(text\/[\w.+-]+|application\/json|image\/svg\+xml)$/;

/** Brotli is smaller, but browsers list gzip first. */
const encodings = ['br', 'gzip'] as const;
type Encoding = (typeof encodings)[number];

/** Returns whether files of a type are compressed for clients that accept it. */
export function isTextType(mimeType: string): boolean {
  return textTypes.test(mimeType);
}

/** Text files of the store, such as scripts and subtitles, compressed once and then kept in memory. */
export class CompressedAssets {
  readonly #cache = new LRUCache<string, Buffer>({
    maxSize: maxCachedBytes,
    sizeCalculation: (bytes) => bytes.length,
  });

  /**
   * Sends a whole file compressed, or 304, and closes it. Returns false, and changes nothing, if the file must be sent
   * uncompressed: for ranges, for small and large files, and for clients without Brotli and gzip.
   */
  async send(ctx: Context, file: OpenFile, sha256: string): Promise<boolean> {
    const encoding = encodingOf(ctx, file.size);
    if (encoding === null) return false;
    const bytes = await this.#find(file, { sha256, encoding });
    await file.close();
    const etag = `"${sha256}-${encoding}"`;
    ctx.status = 200;
    ctx.set('ETag', etag);
    if (matchesIfNoneMatch(ctx, etag)) {
      ctx.status = 304;
      return true;
    }
    ctx.set('Content-Encoding', encoding);
    ctx.body = bytes;
    return true;
  }

  async #find(file: OpenFile, { sha256, encoding }: { sha256: string; encoding: Encoding }): Promise<Buffer> {
    const key = `${sha256}-${encoding}`;
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of file.chunks()) chunks.push(Buffer.from(chunk));
      const bytes = await compress(Buffer.concat(chunks), encoding);
      this.#cache.set(key, bytes);
      return bytes;
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

/** Ranges and If-Match are about the bytes of the file itself. */
function encodingOf(ctx: Context, size: number): Encoding | null {
  const isWhole = ctx.get('Range') === '' && ctx.get('If-Match') === '';
  if (!isWhole || size < minCompressedBytes || size > maxBytes) return null;
  return encodings.find((one) => ctx.acceptsEncodings(one) !== false) ?? null;
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return compressGzip(bytes, { level: 5 });
  const params = {
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    [constants.BROTLI_PARAM_QUALITY]: 4,
  };
  return compressBrotli(bytes, { params });
}
