import type { ArchiveDraft, BlobStore, OpenFile, Store, StoredArchive } from './store.ts';
import type { EvictableFile, FileUsage } from './file-usage.ts';

const halfHourMs = 1_800_000;

/**
 * Returns a store that reports the usage of downloads and archives: every check, opening and write touches the file,
 * and an open file is pinned. So no evictor removes a file that is being read or written.
 */
export function trackUsage(store: Store, uses: FileUsage): Store {
  return { ...store, cache: trackBlobs(store.cache, uses), archives: trackArchives(store.archives, uses) };
}

function trackBlobs(cache: BlobStore, uses: FileUsage): BlobStore {
  return {
    ...cache,
    async put(source, announce) {
      // An upload may take longer than a touch lasts.
      const pin = uses.pin();
      try {
        return await cache.put(source, async (digest, small) => {
          await uses.touch([`cache:${digest.sha256}`]);
          pin.add(`cache:${digest.sha256}`);
          await announce?.(digest, small);
        });
      } finally {
        pin.release();
      }
    },
    async has(digest, access = 'use') {
      if (access === 'use') await uses.touch([`cache:${digest.sha256}`]);
      return cache.has(digest);
    },
    async open(digest, reading) {
      await uses.touch([`cache:${digest.sha256}`]);
      return pinWhileOpen(await cache.open(digest, reading), `cache:${digest.sha256}`, uses);
    },
  };
}

function trackArchives(archives: Store['archives'], uses: FileUsage): Store['archives'] {
  return {
    ...archives,
    async open(key) {
      // Readers of an open archive can read it to its end even if it is removed, so the touch can follow; most
      // requested keys have no archive.
      const archive: StoredArchive | null = await archives.open(key);
      if (archive !== null) await uses.touch([`archives:${key}`]);
      return pinWhileOpen(archive, `archives:${key}`, uses);
    },
    async create(): Promise<ArchiveDraft> {
      const draft = await archives.create();
      return {
        ...draft,
        async publish(key, sha256) {
          await uses.touch([`archives:${key}`]);
          const pin = uses.pin();
          pin.add(`archives:${key}`);
          await draft.publish(key, sha256).finally(() => pin.release());
        },
      };
    },
  };
}

function pinWhileOpen<File extends OpenFile>(
  file: File | null,
  name: EvictableFile,
  uses: FileUsage,
): File | null {
  if (file === null) return null;
  const pin = uses.pin();
  pin.add(name);
  return {
    ...file,
    async linkForProxy() {
      const link = await file.linkForProxy();
      // Lectern closes the file before the proxy has read the object.
      if (link?.kind === 'object') await uses.pinUntil([name], transferEnd());
      return link;
    },
    async close() {
      pin.release();
      await file.close();
    },
  };
}

/**
 * Returns until when a transfer from the bucket by a proxy pins its file: 8 GiB take 6 hours at 400 kB per second. Half
 * hours, so that many transfers of a file share one pin.
 */
function transferEnd(): Date {
  return new Date((Math.floor(Date.now() / halfHourMs) + 13) * halfHourMs);
}
