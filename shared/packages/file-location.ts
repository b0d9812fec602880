import { Readable } from 'node:stream';
import { checkedStream } from './checked-stream.ts';
import { shownPath } from './entry-name.ts';
import type { SourceFile } from './entry-name.ts';
import { openPlainFile } from './plain-file.ts';
import type { PlainFile } from './plain-file.ts';
import { openZipEntry } from './zip-entry-bytes.ts';
import type { FileIdentity } from './zip-entry-bytes.ts';
import type { ZipEntry } from './zip-entries.ts';

/** Where a file of a package is. It is plain data: the process that reads a package sends it to the one that imports. */
export type FileLocation =
  | { archive: string; identity: FileIdentity; file: ZipEntry }
  | { archive: null; file: PlainFile }
  /** Bytes that a converter has made; small, because processes send them. */
  | { archive: null; file: SourceFile; bytes: Uint8Array };

/**
 * Opens a file of a package. The stream opens it at the first read and has exactly its bytes; every problem of the file
 * is a PackageError on the stream.
 */
export function openLocation(location: FileLocation): Readable {
  const { file } = location;
  return checkedStream(shownPath(file.path), file, () => openUnchecked(location));
}

function openUnchecked(location: FileLocation): Promise<Readable> {
  if (location.archive !== null) return openZipEntry(location.archive, location.identity, location.file);
  if ('bytes' in location) return Promise.resolve(Readable.from([Buffer.from(location.bytes)]));
  return openPlainFile(location.file);
}
