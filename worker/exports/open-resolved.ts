import type { OpenFile, Store } from '../../shared/storage/store.ts';
import type { FoundFile } from './outcome.ts';

/** Opens a file that was found. @throws when it has left the store since. */
export async function openFound(store: Store, found: FoundFile): Promise<OpenFile> {
  const file = await store[found.area].open(found);
  if (file === null) throw new Error(`${found.sha256} was evicted from the store during use`);
  return file;
}
