import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  folderPrefix,
  localHeaderBytes,
  max32,
  zip64FieldBytes,
  zip64NumberBytes,
} from '../../shared/exports/archive-layout.ts';
import type { Digest } from '../../shared/storage/store.ts';

/*
 * Writes ZIPs of stored (not deflated) entries, after PKWARE's APPNOTE.TXT 6.3.10. Sizes and checksums are known before
 * an entry is written, so every local header is complete and no data descriptor follows. All readers support this,
 * including streaming ones. ZIP64 records appear only where a number needs them.
 */

const localHeaderSignature = 0x04034b50;
const centralHeaderSignature = 0x02014b50;
const endOfDirectorySignature = 0x06054b50;
const zip64EndSignature = 0x06064b50;
const zip64LocatorSignature = 0x07064b50;
const zip64ExtraTag = 0x0001;

/** Version 2.0 supports folders, 4.5 supports ZIP64 (APPNOTE 4.4.3). */
const versionPlain = 20;
const versionZip64 = 45;
/** The host system Unix, which makes readers apply the modes below (APPNOTE 4.4.2). */
const madeOnUnix = 3 << 8;
/** A regular file, rw-r--r--. */
const fileMode = 0o100644;
/** A folder, rwxr-xr-x, and its MS-DOS attribute. */
const folderMode = 0o40755;
const dosFolder = 0x10;
/** General purpose bit 11: names are UTF-8. */
const utf8Names = 0x0800;
const max16 = 0xffff;
const slash = 0x2f;

/** The number of directory headers per buffer. Separate buffers take twice the memory. */
const headersPerBuffer = 1000;

/** Small writes are gathered up to this size, for one system call and one hash update for many entries. */
const gatherBytes = 1024 ** 2;

export interface ArchiveSink {
  /** Writes the chunks in order. They must not change until the promise resolves. */
  write(chunks: readonly Uint8Array[]): Promise<void>;
}

/** Reports a file whose bytes differ from its digest. */
export class DamagedEntry extends Error {
  override readonly name = 'DamagedEntry';
}

/** Writes an archive entry by entry, in constant memory except for the directory (about 100 bytes for each entry). */
export class ArchiveWriter {
  readonly #sink: ArchiveSink;
  readonly #time: Buffer;
  readonly #prefix: string;
  readonly #hash = createHash('sha256');
  readonly #directory: Buffer[] = [];
  #headers: Buffer[] = [];
  readonly #names = new Set<string>();
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  /** The current write; the next chunks are read and hashed in the meantime. */
  #writing: Promise<void> = Promise.resolve();
  #offset = 0;

  /**
   * @param modified the time of every entry: UTC, rounded down to 2 seconds, from 1980 on.
   * @param folder the folder of all entries; '' for none.
   */
  constructor(sink: ArchiveSink, modified: Date, folder = '') {
    this.#sink = sink;
    this.#time = dosTime(modified);
    this.#prefix = folderPrefix(folder);
  }

  /**
   * Adds a file whose size and CRC-32 are already known.
   *
   * @param path the path in the archive's folder, with '/' between folders and at the end of an empty folder.
   * @param isVerified whether the chunks have just been compared with the digest.
   * @throws {DamagedEntry} when the bytes do not match the digest; any error when the name is taken, or from the source
   * or the sink. The archive is invalid then and must be discarded.
   */
  async add(
    path: string,
    digest: Pick<Digest, 'crc32' | 'size'>,
    chunks: AsyncIterable<Uint8Array>,
    isVerified = false,
  ): Promise<void> {
    if (this.#names.has(path)) throw new Error(`${path} is in the archive already`);
    this.#names.add(path);
    const name = Buffer.from(this.#prefix + path, 'utf8');
    const { crc32: checksum, size } = digest;
    const offset = this.#offset;
    await this.#write(localHeader({ name, checksum, size, time: this.#time }));
    let written = 0;
    let computed = isVerified ? checksum : 0;
    for await (const chunk of chunks) {
      written += chunk.byteLength;
      if (written > size) break;
      if (!isVerified) computed = crc32(chunk, computed);
      await this.#write(chunk);
    }
    if (written !== size || computed !== checksum) {
      throw new DamagedEntry(
        `${path} is damaged: ${written} of ${size} bytes, CRC-32 ${computed} instead of ${checksum}`,
      );
    }
    this.#headers.push(centralHeader({ name, checksum, size, offset, time: this.#time }));
    if (this.#headers.length === headersPerBuffer) this.#joinHeaders();
  }

  #joinHeaders(): void {
    this.#directory.push(Buffer.concat(this.#headers));
    this.#headers = [];
  }

  /** Writes the directory; the archive is complete when this resolves. */
  async finish(): Promise<{ size: number; sha256: string }> {
    const start = this.#offset;
    this.#joinHeaders();
    for (const headers of this.#directory) await this.#write(headers);
    await this.#write(endOfDirectory({ entries: this.#names.size, start, size: this.#offset - start }));
    await this.#flush();
    await this.#writing;
    return { size: this.#offset, sha256: this.#hash.digest('hex') };
  }

  async #write(chunk: Uint8Array): Promise<void> {
    this.#offset += chunk.byteLength;
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.byteLength;
    if (this.#gatheredBytes >= gatherBytes) await this.#flush();
  }

  async #flush(): Promise<void> {
    const chunks = this.#gathered;
    if (chunks.length === 0) return;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    await this.#writing;
    this.#writing = this.#sink.write(chunks);
    // The next flush awaits this and throws its error, so until then it must not count as unhandled.
    this.#writing.catch(() => undefined);
    for (const chunk of chunks) this.#hash.update(chunk);
  }
}

interface EntryFields {
  name: Buffer;
  checksum: number;
  size: number;
  time: Buffer;
}

/** APPNOTE 4.3.7. */
function localHeader({ name, checksum, size, time }: EntryFields): Buffer {
  const large = size >= max32;
  const header = Buffer.alloc(localHeaderBytes);
  header.writeUInt32LE(localHeaderSignature, 0);
  header.writeUInt16LE(large ? versionZip64 : versionPlain, 4);
  header.writeUInt16LE(utf8Names, 6);
  time.copy(header, 10);
  header.writeUInt32LE(checksum, 14);
  header.writeUInt32LE(large ? max32 : size, 18);
  header.writeUInt32LE(large ? max32 : size, 22);
  header.writeUInt16LE(name.length, 26);
  // In a local header ZIP64 holds both sizes or none (APPNOTE 4.5.3).
  const extra = large ? zip64Extra([size, size]) : Buffer.alloc(0);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

/** APPNOTE 4.3.12. */
function centralHeader({ name, checksum, size, offset, time }: EntryFields & { offset: number }): Buffer {
  const largeSize = size >= max32;
  const largeOffset = offset >= max32;
  const extra = zip64Extra([...(largeSize ? [size, size] : []), ...(largeOffset ? [offset] : [])]);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(centralHeaderSignature, 0);
  header.writeUInt16LE(madeOnUnix | (extra.length > 0 ? versionZip64 : versionPlain), 4);
  header.writeUInt16LE(extra.length > 0 ? versionZip64 : versionPlain, 6);
  header.writeUInt16LE(utf8Names, 8);
  time.copy(header, 12);
  header.writeUInt32LE(checksum, 16);
  header.writeUInt32LE(largeSize ? max32 : size, 20);
  header.writeUInt32LE(largeSize ? max32 : size, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  const attributes = name.at(-1) === slash ? (folderMode << 16) | dosFolder : fileMode << 16;
  header.writeUInt32LE(attributes >>> 0, 38);
  header.writeUInt32LE(largeOffset ? max32 : offset, 42);
  return Buffer.concat([header, name, extra]);
}

/** APPNOTE 4.5.3; empty without numbers. */
function zip64Extra(numbers: number[]): Buffer {
  if (numbers.length === 0) return Buffer.alloc(0);
  const extra = Buffer.alloc(zip64FieldBytes + zip64NumberBytes * numbers.length);
  extra.writeUInt16LE(zip64ExtraTag, 0);
  extra.writeUInt16LE(zip64NumberBytes * numbers.length, 2);
  for (const [index, number] of numbers.entries()) {
    extra.writeBigUInt64LE(BigInt(number), zip64FieldBytes + zip64NumberBytes * index);
  }
  return extra;
}

/** APPNOTE 4.3.14 to 4.3.16. */
function endOfDirectory({ entries, start, size }: { entries: number; start: number; size: number }): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(endOfDirectorySignature, 0);
  end.writeUInt16LE(Math.min(entries, max16), 8);
  end.writeUInt16LE(Math.min(entries, max16), 10);
  end.writeUInt32LE(Math.min(size, max32), 12);
  end.writeUInt32LE(Math.min(start, max32), 16);
  if (entries < max16 && size < max32 && start < max32) return end;

  const record = Buffer.alloc(56);
  record.writeUInt32LE(zip64EndSignature, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(madeOnUnix | versionZip64, 12);
  record.writeUInt16LE(versionZip64, 14);
  record.writeBigUInt64LE(BigInt(entries), 24);
  record.writeBigUInt64LE(BigInt(entries), 32);
  record.writeBigUInt64LE(BigInt(size), 40);
  record.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(zip64LocatorSignature, 0);
  locator.writeBigUInt64LE(BigInt(start + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator, end]);
}

/** Returns time and date in the MS-DOS format (APPNOTE 4.4.6). It has no time zone, so UTC is written on every host. */
function dosTime(date: Date): Buffer {
  const year = Math.min(Math.max(date.getUTCFullYear(), 1980), 2107);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16LE(
    (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1),
    0,
  );
  bytes.writeUInt16LE(((year - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(), 2);
  return bytes;
}
