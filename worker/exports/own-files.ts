import { json } from 'node:stream/consumers';
import { fromGzip, toGzip } from '../../shared/platform/gzip-texts.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { bytesOf, digestOf, digestOfChunks } from '../../shared/storage/digest.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';
import { describePage, indexPath } from './describe-page.ts';
import type { PageOfArchive } from './describe-page.ts';
import { indexPage } from './index-page.ts';
import { prettyJson } from './json-pieces.ts';
import type { PlayerFile } from './player-files.ts';

/** A file that Lectern adds to those of the lesson. */
export interface OwnFile {
  /** Below the archive's top-level folder. */
  path: string;
  digest: Digest;
  /** The same bytes at each call. */
  chunks: () => AsyncIterable<Uint8Array>;
}

/** Those of an archive but for manifest.json, which tells what came of all others; counted towards its limit. */
export async function ownFiles(
  store: Store,
  {
    player,
    lesson,
    ...page
  }: Omit<PageOfArchive, 'lesson'> & { player: PlayerFile[] | null; lesson: OwnFile },
): Promise<OwnFile[]> {
  if (player === null) return [lesson];
  const described = await describePage(store, {
    ...page,
    lesson: (await json(lesson.chunks())) as LessonContent,
  });
  const chunks = () => indexPage(described);
  const index = { path: indexPath, digest: await digestOfChunks(chunks()), chunks };
  page.search.reserve(index.digest.size);
  return [...player.map(({ path, bytes }) => fileInMemory(path, bytes)), index, lesson];
}

/** A folder that an archive has although no file is in it: as an entry it is an empty file, and its path ends in '/'. */
export function emptyFolder(path: `${string}/`): OwnFile {
  return fileInMemory(path, Buffer.alloc(0));
}

function fileInMemory(path: string, bytes: Buffer): OwnFile {
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
