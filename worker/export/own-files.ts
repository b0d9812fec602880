import { bytesOf, digestOf, digestOfChunks } from '../../shared/storage/digest.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';
import { describePage, indexPath } from './describe-page.ts';
import type { PageOfArchive } from './describe-page.ts';
import { indexPage } from './index-page.ts';
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
  { player, lessonJson, ...page }: PageOfArchive & { player: PlayerFile[] | null; lessonJson: Buffer },
): Promise<OwnFile[]> {
  const lesson = fileInMemory('lesson.json', lessonJson);
  if (player === null) return [lesson];
  const described = await describePage(store, page);
  const chunks = () => indexPage(described);
  const index = { path: indexPath, digest: await digestOfChunks(chunks()), chunks };
  page.search.reserve(index.digest.size);
  return [...player.map(({ path, bytes }) => fileInMemory(path, bytes)), index, lesson];
}

export function fileInMemory(path: string, bytes: Buffer): OwnFile {
  return { path, digest: digestOf(bytes), chunks: () => bytesOf(bytes) };
}

/** Keeps a file besides the archive, where an address can name it. */
export async function keepOwnFile(store: Store, { digest, chunks }: OwnFile): Promise<void> {
  if (!(await store.cache.has(digest))) await store.cache.put(chunks());
}
