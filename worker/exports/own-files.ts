import { fromGzip, toGzip } from '../../shared/platform/gzip-texts.ts';
import { bytesOf, digestOf, digestOfChunks } from '../../shared/storage/digest.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';
import { prettyJson } from './json-pieces.ts';

/** A file that Lectern adds to those of the lesson. */
export interface OwnFile {
  /** Below the archive's top-level folder. */
  path: string;
  digest: Digest;
  /** The same bytes at each call. */
  chunks: () => AsyncIterable<Uint8Array>;
}

/** A folder that an archive has although no file is in it: as an entry it is an empty file, and its path ends in '/'. */
export function emptyFolder(path: `${string}/`): OwnFile {
  return fileInMemory(path, Buffer.alloc(0));
}

/** A file whose bytes are in memory. */
export function fileInMemory(path: string, bytes: Buffer): OwnFile {
  return { path, digest: digestOf(bytes), chunks: () => bytesOf(bytes) };
}

/** A JSON file that is kept in memory compressed, and read anew at each call. @param map as of {@link prettyJson}. */
export async function jsonFile(
  path: string,
  value: object,
  map?: (part: unknown) => unknown,
): Promise<OwnFile> {
  const packed = await toGzip(prettyJson(value, map));
  const chunks = () => fromGzip(packed);
  return { path, digest: await digestOfChunks(chunks()), chunks };
}

/** Keeps a file besides the archive, where an address can name it. */
export async function keepOwnFile(store: Store, { digest, chunks }: OwnFile): Promise<void> {
  if (!(await store.cache.has(digest))) await store.cache.put(chunks());
}
