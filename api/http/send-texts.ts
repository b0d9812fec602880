import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { bytesOf, joinGzip } from '../../shared/platform/gzip-text.ts';
import type { GzipText } from '../../shared/platform/gzip-text.ts';

/** Smaller responses are not compressed: they fit into a packet or two. */
export const minCompressedBytes = 1024;

/** Up to this size, one buffer is sent faster than several, and the system's buffers hold it for slow readers. */
const maxCopiedBytes = 1024 ** 2;

/** The memory of an entry beside its texts: a compressed text may keep one of Node's 8 KiB slabs. */
const entryBytes = 10 * 1024;

/**
 * Caches expanded texts for clients without gzip, because expanding a lesson takes longer than the rest of a request.
 * Concurrent requests for a text expand it once.
 */
const expandedTexts = new LRUCache<GzipText, Buffer>({
  maxSize: 16 * 1024 ** 2,
  sizeCalculation: (expanded, { file }) => expanded.buffer.byteLength + file.length + entryBytes,
  fetchMethod: async (text) => withoutSlack(await text.expand()),
  ignoreFetchAbort: true,
});

/** Copies bytes out of a larger buffer: zlib returns even a short text as a part of 16 KiB. */
function withoutSlack(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/**
 * Sends a body of several texts, one after the other, with gzip if the client accepts it. Constant texts are already
 * compressed. Clients that read slowly share their bytes.
 */
export async function sendTexts(ctx: Context, texts: readonly (Buffer | GzipText)[]): Promise<void> {
  ctx.vary('Accept-Encoding');
  const total = bytesOf(texts);
  // The others cost no work.
  ctx.state.bodyBytes = bytesOf(texts.filter((text) => Buffer.isBuffer(text)));
  if (encodingOf(ctx, texts) === 'gzip') {
    const pieces = await joinGzip(texts);
    ctx.set('Content-Encoding', 'gzip');
    sendPieces(ctx, pieces, bytesOf(pieces));
  } else if (total > maxCopiedBytes) {
    sendPieces(ctx, expandAll(texts), total);
  } else {
    const expanded = await Promise.all(
      texts.map((text) => (Buffer.isBuffer(text) ? Promise.resolve(text) : expandedTexts.forceFetch(text))),
    );
    sendPieces(ctx, expanded, total);
  }
}

/** Returns the encoding in which {@link sendTexts} sends texts. */
export function encodingOf(ctx: Context, texts: readonly (Buffer | GzipText)[]): 'gzip' | 'identity' {
  if (bytesOf(texts) < minCompressedBytes) return 'identity';
  return ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
}

function sendPieces(ctx: Context, pieces: Buffer[] | AsyncIterable<Buffer>, bytes: number): void {
  const isCopied = Array.isArray(pieces) && bytes <= maxCopiedBytes;
  ctx.body = isCopied ? Buffer.concat(pieces) : Readable.from(pieces, { objectMode: false });
  ctx.length = bytes;
}

async function* expandAll(texts: readonly (Buffer | GzipText)[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (Buffer.isBuffer(text)) yield text;
    else for await (const chunk of text.stream()) yield chunk as Buffer;
  }
}
