import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { LearnerSubject } from '../tokens/learner-subject.ts';
import { learnerFiles } from './learner-files.ts';
import type { LearnerExportDependencies, LearnerFile } from './learner-files.ts';

/**
 * Returns a ZIP archive of what Lectern stores about a learner. It reads and compresses as fast as the archive is
 * consumed. An archive that ends early has no directory, so programs reject it.
 */
export function learnerZip(
  deps: LearnerExportDependencies,
  learner: LearnerSubject,
  exportedAt = new Date(),
): Readable {
  return zipOf(learnerFiles(deps, learner, exportedAt), exportedAt);
}

/**
 * Returns a ZIP archive of files, whose texts it reads one after the other. It stops reading as soon as the stream is
 * destroyed, whereas a generator would continue until its next bytes, perhaps for seconds.
 *
 * An error of a text destroys the stream immediately.
 */
export function zipOf(files: readonly LearnerFile[], modifiedAt: Date): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const fail = (error: unknown) => output.destroy(error as Error);
  zip.on('error', fail);
  // An error before the consumer listens would end the process. The consumer gets it when it begins.
  output.on('error', () => undefined);
  let reading: Readable | undefined;
  output.once('close', () => reading?.destroy());
  for (const { name, text } of files) {
    zip.addReadStreamLazy(name, { mtime: modifiedAt }, (begin) => {
      // yazl would continue after the consumer has stopped.
      if (output.destroyed) return;
      // yazl only pipes, so an error without a listener would end the process.
      // A text may have megabytes: by default, the stream would read 16 of them ahead.
      reading = Readable.from(text(), { highWaterMark: 1 }).on('error', fail);
      begin(null, reading);
    });
  }
  zip.end();
  return output;
}
