import type { ArchiveDraft, BlobStore, OpenFile, Store, StoredArchive } from './store.ts';
import type { EvictableFile, FileUsage } from './file-usage.ts';

/**
 * A store whose downloaded files and archives are noted as used by whoever looks for one, opens it, or is about to
 * store it; an open one is in use until it is closed. So no evictor takes what is being read or written.
 */
export function trackUsage(store: Store, uses: FileUsage): Store {
  return { ...store, cache: trackBlobs(store.cache, uses), archives: trackArchives(store.archives, uses) };
}

function trackBlobs(cache: BlobStore, uses: FileUsage): BlobStore {
  return {
    ...cache,
    async put(source, announce) {
      // An upload may take longer than a note lasts.
      const hold = uses.pin();
      try {
        return await cache.put(source, async (digest) => {
          await uses.touch([`cache:${digest.sha256}`]);
          hold.add(`cache:${digest.sha256}`);
          await announce?.(digest);
        });
      } finally {
        hold.release();
      }
    },
    async has(digest, look = 'use') {
      if (look === 'use') await uses.touch([`cache:${digest.sha256}`]);
      return cache.has(digest);
    },
    async open(digest) {
      await uses.touch([`cache:${digest.sha256}`]);
      return heldOpen(await cache.open(digest), `cache:${digest.sha256}`, uses);
    },
  };
}

function trackArchives(archives: Store['archives'], uses: FileUsage): Store['archives'] {
  return {
    ...archives,
    async open(key) {
      // An archive that is open can be read to its end, even when it is removed: most keys that are asked for have none.
      const archive: StoredArchive | null = await archives.open(key);
      if (archive !== null) await uses.touch([`archives:${key}`]);
      return heldOpen(archive, `archives:${key}`, uses);
    },
    async create(): Promise<ArchiveDraft> {
      const draft = await archives.create();
      return {
        ...draft,
        async publish(key, sha256) {
          await uses.touch([`archives:${key}`]);
          const hold = uses.pin();
          hold.add(`archives:${key}`);
          await draft.publish(key, sha256).finally(() => hold.release());
        },
      };
    },
  };
}

function heldOpen<File extends OpenFile>(
  file: File | null,
  name: EvictableFile,
  uses: FileUsage,
): File | null {
  if (file === null) return null;
  const hold = uses.pin();
  hold.add(name);
  return {
    ...file,
    async close() {
      hold.release();
      await file.close();
    },
  };
}
