import { entryStarts } from '../../shared/exports/archive-layout.ts';
import type { ExportEntry } from '../../shared/models/export-record.ts';
import type { Store } from '../../shared/storage/store.ts';

/** A published archive, with small downloads that the store has nowhere else. */
export interface ArchiveWithDownloads {
  exportKey: string;
  sha256: string;
  /** The archive's top-level folder. */
  folder: string;
  /** Lists all entries in their order. */
  entries: () => readonly ExportEntry[];
  heldPaths: ReadonlySet<string>;
}

/** Copies small downloads from their archive into the store's cache, where later builds of other lessons look for them. */
export async function keepDownloads(
  store: Store,
  { exportKey, sha256, folder, entries, heldPaths }: ArchiveWithDownloads,
  signal: AbortSignal,
): Promise<void> {
  if (heldPaths.size === 0) return;
  const archive = await store.archives.open(exportKey);
  if (archive === null) return;
  try {
    // Another build may have replaced it.
    if (archive.sha256 !== sha256) return;
    const listed = entries();
    const starts = entryStarts(folder, listed);
    for (const entry of listed) {
      const start = starts.get(entry.path);
      if (start === undefined || !heldPaths.has(entry.path)) continue;
      signal.throwIfAborted();
      if (!(await store.cache.has(entry))) await store.cache.put(archive.chunks(start, start + entry.size));
    }
  } finally {
    await archive.close();
  }
}
