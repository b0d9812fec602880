import { fromGzip, toGzip } from '../../shared/platform/gzip-pieces.ts';
import { bytesOf, digestOf, digestOfChunks } from '../../shared/storage/digest.ts';
import type { Digest } from '../../shared/storage/store.ts';
import { prettyJson } from '../../shared/lessons/json-pieces.ts';

/** A file that Lectern adds to the archive, besides media and widgets. */
export interface GeneratedFile {
  /** Below the archive's top-level folder. */
  path: string;
  digest: Digest;
  /** Yields the same bytes at each call. */
  chunks: () => AsyncIterable<Uint8Array>;
}

/** Returns the entry of a folder without files: an empty file whose path ends in '/'. */
export function emptyFolder(path: `${string}/`): GeneratedFile {
  return fileInMemory(path, Buffer.alloc(0));
}

export function fileInMemory(path: string, bytes: Buffer): GeneratedFile {
  return { path, digest: digestOf(bytes), chunks: () => bytesOf(bytes) };
}

/** Returns a JSON file, which stays compressed in memory. */
export async function jsonFile(path: string, value: object): Promise<GeneratedFile> {
  return compressedFile(path, await toGzip(prettyJson(value)));
}

/** Returns a file of compressed bytes, which stay compressed in memory. */
export async function compressedFile(path: string, compressed: Buffer): Promise<GeneratedFile> {
  const chunks = () => fromGzip(compressed);
  return { path, digest: await digestOfChunks(chunks()), chunks };
}
