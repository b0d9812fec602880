import { addAbortSignal } from 'node:stream';
import type { PackageFile, PackageFiles } from './lesson-package.ts';

/** The progress of reading a package's files. */
export interface FileProgress {
  /** The number of files that were read to their end. */
  done: number;
  total: number;
  /** The size of these files. */
  bytes: number;
}

/** Wraps a package so that its files report progress while they are read, and fail when the signal is aborted. */
export function watchFiles<T extends PackageFiles>(
  pkg: T,
  { signal, onProgress }: { signal: AbortSignal; onProgress?: (progress: FileProgress) => void },
): T {
  const progress: FileProgress = { done: 0, total: 0, bytes: 0 };
  const watch = (file: PackageFile): PackageFile => {
    progress.total += 1;
    const open = () => {
      const stream = addAbortSignal(signal, file.open());
      stream.once('end', () => {
        progress.done += 1;
        progress.bytes += file.size;
        onProgress?.({ ...progress });
      });
      return stream;
    };
    return { ...file, open };
  };
  return {
    ...pkg,
    media: pkg.media.map((medium) => (medium.file ? { ...medium, file: watch(medium.file) } : medium)),
    widgets: pkg.widgets.map((widget) => ({
      ...widget,
      js: watch(widget.js),
      ...(widget.css && { css: watch(widget.css) }),
    })),
  };
}
