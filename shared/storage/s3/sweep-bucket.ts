import type { LastUses } from '../store.ts';
import type { ArchivePointers } from './archive-pointers.ts';
import type { Bucket, ListedObject } from './bucket.ts';

interface SweptStore {
  pointers: ArchivePointers;
  lastUses: LastUses;
  layoutVersion: string;
  /** How long an archive without a pointer stays after its last use. */
  unreadMs: number;
}

/**
 * Removes the test objects of crashed checks, and the files of replaced or removed archives: those without a pointer that no
 * reader has opened for a day.
 *
 * Any number of processes may sweep concurrently.
 *
 * @param options.signal aborts between two requests.
 * @returns the number of removed objects.
 */
export async function sweepBucket(
  bucket: Bucket,
  { pointers, lastUses, layoutVersion, unreadMs }: SweptStore,
  { olderThanSeconds, signal }: { olderThanSeconds: number; signal: AbortSignal | undefined },
): Promise<number> {
  const newest = Date.now() - olderThanSeconds * 1000;
  let removed = 0;
  const remove = async (name: string) => {
    signal?.throwIfAborted();
    await bucket.delete(name);
    removed += 1;
  };
  for await (const page of bucket.list(`${layoutVersion}/checks/`)) {
    for (const { name, modified } of page) if (modified.getTime() <= newest) await remove(name);
  }

  const isUnread = (time: Date) => time.getTime() <= Date.now() - unreadMs;
  // This order matters: a pointer that is written meanwhile is found, because its file was there before.
  const unread = new Set<string>();
  for await (const page of bucket.list(`${layoutVersion}/archive-files/`)) {
    signal?.throwIfAborted();
    for (const name of await listUnread(page)) unread.add(name);
  }
  for await (const page of pointers.list()) {
    signal?.throwIfAborted();
    for (const { file } of page) unread.delete(`${layoutVersion}/archive-files/${file}`);
  }
  for (const name of unread) await remove(name);
  return removed;

  async function listUnread(page: ListedObject[]): Promise<string[]> {
    const names = page.filter(({ modified }) => isUnread(modified)).map(({ name }) => name);
    const uses = await lastUses.find(names);
    return names.filter((name) => isUnread(uses.get(name) ?? new Date(0)));
  }
}
