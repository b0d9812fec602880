import type { ArchivePointers } from './archive-pointers.ts';
import type { Bucket, ListedObject } from './bucket.ts';

/**
 * Removes the remains of crashed writers, and the files of replaced or deleted archives. The first sweep marks a file
 * without a pointer; a later sweep removes it if the mark is old and there is still no pointer. Readers of the old
 * archive, and builders that were delayed between file and pointer, have this time.
 *
 * Any number of processes may sweep concurrently.
 *
 * @param options.signal aborts between two requests.
 * @returns the number of removed uploads and objects.
 */
export async function sweepBucket(
  bucket: Bucket,
  pointers: ArchivePointers,
  layoutVersion: string,
  { olderThanSeconds, signal }: { olderThanSeconds: number; signal: AbortSignal | undefined },
): Promise<number> {
  const newest = Date.now() - olderThanSeconds * 1000;
  const isOld = (time: Date) => time.getTime() <= newest;
  let removed = 0;

  for (const { name, uploadId, started } of await bucket.uploads.list(`${layoutVersion}/`)) {
    signal?.throwIfAborted();
    if (!isOld(started)) continue;
    await bucket.uploads.abort(name, uploadId);
    removed += 1;
  }
  for (const { name, modified } of await all(bucket, `${layoutVersion}/checks/`, signal)) {
    signal?.throwIfAborted();
    if (!isOld(modified)) continue;
    await bucket.delete(name);
    removed += 1;
  }

  // This order matters: a pointer that is written meanwhile is found, because its file was there before.
  const marks = new Map(
    (await all(bucket, markName(layoutVersion, ''), signal)).map((one) => [one.name, one]),
  );
  const files = (await all(bucket, `${layoutVersion}/archive-files/`, signal)).filter(({ modified }) =>
    isOld(modified),
  );
  const inUse = new Set<string>();
  for await (const page of pointers.list()) {
    signal?.throwIfAborted();
    for (const { file } of page) inUse.add(file);
  }

  for (const { name } of files) {
    signal?.throwIfAborted();
    const file = name.slice(name.lastIndexOf('/') + 1);
    const mark = marks.get(markName(layoutVersion, file));
    marks.delete(markName(layoutVersion, file));
    if (inUse.has(file)) {
      if (mark !== undefined) await bucket.delete(mark.name);
    } else if (mark === undefined) {
      await bucket.put(markName(layoutVersion, file), Buffer.alloc(0));
    } else if (isOld(mark.modified)) {
      await bucket.delete(name);
      await bucket.delete(mark.name);
      removed += 1;
    }
  }
  // Marks of files that another process removed.
  for (const { name, modified } of marks.values()) {
    signal?.throwIfAborted();
    if (isOld(modified)) await bucket.delete(name);
  }
  return removed;
}

const markName = (layoutVersion: string, file: string) => `${layoutVersion}/orphans/${file}`;

async function all(bucket: Bucket, start: string, signal: AbortSignal | undefined): Promise<ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of bucket.list(start)) {
    signal?.throwIfAborted();
    objects.push(...page);
  }
  return objects;
}
