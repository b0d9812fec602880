import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { LearnerSubject } from '../tokens/learner-subject.ts';
import { learnerFiles } from './learner-files.ts';
import type { LearnerExportDependencies, LearnerFile } from './learner-files.ts';

/**
 * Yields a ZIP archive of what Lectern stores about a learner. It reads and compresses as fast as the archive is
 * consumed. An archive that ends early has no directory, so programs reject it.
 */
export async function* learnerZip(
  deps: LearnerExportDependencies,
  learner: LearnerSubject,
  exportedAt = new Date(),
): AsyncGenerator<Uint8Array> {
  yield* zipOf(await learnerFiles(deps, learner, exportedAt), exportedAt);
}

/**
 * Yields a ZIP archive of files, whose texts it reads one after the other.
 *
 * @throws the error of a text, as soon as it occurs.
 */
export async function* zipOf(files: readonly LearnerFile[], modifiedAt: Date): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const fail = (error: unknown) => output.destroy(error as Error);
  zip.on('error', fail);
  let reading: Readable | undefined;
  for (const { name, text } of files) {
    zip.addReadStreamLazy(name, { mtime: modifiedAt }, (begin) => {
      // yazl would go on after the consumer has ended.
      if (output.destroyed) return;
      // yazl only pipes, so an error without a listener would end the process.
      // A text may have megabytes: by default, the stream would read 16 of them ahead.
      reading = Readable.from(text(), { highWaterMark: 1 }).on('error', fail);
      begin(null, reading);
    });
  }
  zip.end();
  try {
    for await (const chunk of output) yield chunk as Uint8Array;
  } finally {
    reading?.destroy();
  }
}
