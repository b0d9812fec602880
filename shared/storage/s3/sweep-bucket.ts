import type { ArchivePointers } from './archive-pointers.ts';
import type { Bucket, ListedObject } from './bucket.ts';

/**
 * Removes what crashed writers left behind, and the files of archives that were replaced or deleted. A file without a
 * pointer is marked first, and goes when the mark is old and there is still no pointer: who began to read it before it
 * lost its pointer has that long, and a builder that was held up between file and pointer can still publish.
 *
 * Any number of processes may sweep at once.
 *
 * @returns how many uploads and objects were removed.
 */
export async function sweepBucket(
  bucket: Bucket,
  pointers: ArchivePointers,
  layoutVersion: string,
  olderThanSeconds: number,
): Promise<number> {
  const newest = Date.now() - olderThanSeconds * 1000;
  const isOld = (time: Date) => time.getTime() <= newest;
  let removed = 0;

  for (const { name, uploadId, started } of await bucket.listUploads(`${layoutVersion}/`)) {
    if (!isOld(started)) continue;
    await bucket.abortUpload(name, uploadId);
    removed += 1;
  }
  for (const { name, modified } of await all(bucket, `${layoutVersion}/checks/`)) {
    if (!isOld(modified)) continue;
    await bucket.delete(name);
    removed += 1;
  }

  // In this order: a pointer that is written meanwhile is seen, for it names a file that was there before.
  const marks = new Map((await all(bucket, markName(layoutVersion, ''))).map((one) => [one.name, one]));
  const files = (await all(bucket, `${layoutVersion}/archive-files/`)).filter(({ modified }) =>
    isOld(modified),
  );
  const inUse = new Set<string>();
  for await (const page of pointers.list()) for (const { file } of page) inUse.add(file);

  for (const { name } of files) {
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
  // Of files that somebody else removed.
  for (const { name, modified } of marks.values()) if (isOld(modified)) await bucket.delete(name);
  return removed;
}

const markName = (layoutVersion: string, file: string) => `${layoutVersion}/orphans/${file}`;

async function all(bucket: Bucket, start: string): Promise<ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of bucket.list(start)) objects.push(...page);
  return objects;
}
