import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { expect } from 'vitest';
import { openPackageSource } from '../../shared/packages/read-package.ts';
import { defaultPackageLimits } from '../../shared/packages/package-source.ts';
import type { PackageSource } from '../../shared/packages/package-source.ts';
import { filesBelow } from '../storage/stores.ts';
import { bytesOf } from './package-folder.ts';
import { temporaryFolder } from '../support/folders.ts';

/** An entry of a ZIP archive, valid by default. */
export interface ZipPart {
  name: string | Buffer;
  content?: unknown;
  /** 8 (deflate) by default. */
  method?: number;
  /** Values that the archive declares instead of the true ones. */
  size?: number;
  compressedSize?: number;
  crc32?: number;
  flags?: number;
  /** The upper half of the external attributes: a Unix file mode. */
  mode?: number;
  extra?: Buffer;
  localName?: string;
  localExtra?: Buffer;
  /** Points to the local header of the part with this index instead of its own. */
  headerOf?: number;
}

/** Builds a ZIP archive byte by byte, so that it can be invalid in any way. */
export function zipBytes(parts: ZipPart[]): Buffer {
  const body: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const part of parts) {
    const {
      method = 8,
      flags = 0x800,
      mode = 0o100644,
      extra = Buffer.alloc(0),
      localExtra = Buffer.alloc(0),
    } = part;
    const plain = bytesOf(part.content ?? '');
    const packed = method === 8 ? deflateRawSync(plain) : plain;
    const name = Buffer.from(part.name as string);
    const localName = Buffer.from(part.localName ?? name);
    const common = [
      { u16: 20 },
      { u16: flags },
      { u16: method },
      { u32: 0x5a210000 },
      { u32: part.crc32 ?? crc32(plain) },
      { u32: part.compressedSize ?? packed.length },
      { u32: part.size ?? plain.length },
    ];
    const header = numbers([
      { u32: 0x04034b50 },
      ...common,
      { u16: localName.length },
      { u16: localExtra.length },
    ]);
    offsets.push(offset);
    directory.push(
      numbers([
        { u32: 0x02014b50 },
        { u16: (3 << 8) | 20 },
        ...common,
        { u16: name.length },
        { u16: extra.length },
        ...[{ u16: 0 }, { u16: 0 }, { u16: 0 }, { u32: mode * 0x10000 }],
        { u32: offsets[part.headerOf ?? offsets.length - 1] ?? 0 },
      ]),
      name,
      extra,
    );
    if (part.headerOf === undefined) {
      const local = Buffer.concat([header, localName, localExtra, packed]);
      body.push(local);
      offset += local.length;
    }
  }
  const index = Buffer.concat(directory);
  const end = numbers([
    { u32: 0x06054b50 },
    ...[{ u16: 0 }, { u16: 0 }, { u16: parts.length }, { u16: parts.length }],
    ...[{ u32: index.length }, { u32: offset }, { u16: 0 }],
  ]);
  return Buffer.concat([...body, index, end]);
}

/** Writes a file of this name into a new temporary folder, and returns its path. */
export async function writeArchive(bytes: Buffer, name = 'a-lesson-v1.zip'): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, bytes);
  return path;
}

function numbers(fields: ({ u16: number } | { u32: number })[]): Buffer {
  return Buffer.concat(
    fields.map((field) => {
      const bytes = Buffer.alloc('u16' in field ? 2 : 4);
      if ('u16' in field) bytes.writeUInt16LE(field.u16);
      else bytes.writeUInt32LE(field.u32 >>> 0);
      return bytes;
    }),
  );
}

/** Makes a ZIP of a package's folder; returns its path. */
export async function zipFolder(folder: string, name?: string, method: 0 | 8 = 0): Promise<string> {
  const parts: ZipPart[] = [];
  for (const file of await filesBelow(folder)) {
    parts.push({ name: file, content: await readFile(join(folder, file)), method });
  }
  return writeArchive(zipBytes(parts), name);
}

/** The two files that each package has. */
export const baseParts: ZipPart[] = [
  { name: 'lesson.json', content: '{"a": 1}' },
  { name: 'manifest.json', content: '{}', method: 0 },
];

export async function openZip(parts: ZipPart[], limits = {}): Promise<PackageSource> {
  return openPackageSource(await writeArchive(zipBytes(parts)), { ...defaultPackageLimits, ...limits });
}

/** The parts of archiver 8 that are used here; the package has no types. */
interface Archiver extends NodeJS.ReadableStream {
  append(source: Buffer | Readable, options: { name: string; store?: boolean }): void;
  finalize(): Promise<void>;
}

export async function loadArchiver() {
  const name = 'archiver';
  return (await import(name)) as { ZipArchive: new (options: object) => Archiver };
}

/** Writes an archive of the two files with ZIP64 records, although they are not needed, and returns its path. */
export async function writeZip64(): Promise<string> {
  const { ZipArchive } = await loadArchiver();
  const archive = new ZipArchive({ forceZip64: true });
  const path = join(await temporaryFolder(), 'a-lesson-v1.zip');
  const written = pipeline(archive, createWriteStream(path));
  archive.append(Buffer.from('{"a": 1}'), { name: 'lesson.json' });
  archive.append(Buffer.from('{}'), { name: 'manifest.json' });
  await archive.finalize();
  await written;
  expect((await readFile(path)).includes(Buffer.from('PK\x06\x06', 'latin1'))).toBe(true);
  return path;
}
