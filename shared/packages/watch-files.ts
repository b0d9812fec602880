import { addAbortSignal } from 'node:stream';
import type { LessonPackage, PackageFile } from './lesson-package.ts';

/** How far the reading of a package's files is. */
export interface FileProgress {
  /** Files that were read to their end. */
  done: number;
  total: number;
  /** Of those that were read. */
  bytes: number;
}

/** The package with files that are counted as they are read, and that fail once the signal is aborted. */
export function watchFiles(
  pkg: LessonPackage,
  { signal, onProgress }: { signal: AbortSignal; onProgress?: (progress: FileProgress) => void },
): LessonPackage {
  const progress: FileProgress = { done: 0, total: 0, bytes: 0 };
  const watch = (file: PackageFile): PackageFile => {
    progress.total += 1;
    const open = async () => {
      const stream = addAbortSignal(signal, await file.open());
      stream.once('end', () => {
        progress.done += 1;
        progress.bytes += file.size;
        onProgress?.({ ...progress });
      });
      return stream;
    };
    return { path: file.path, size: file.size, open };
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
