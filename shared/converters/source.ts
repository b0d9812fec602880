import type { Readable } from 'node:stream';
import { quote } from '../lessons/json-values.ts';
import { decodeText } from '../platform/decode-text.ts';

/** A file of a source. */
export interface SourceEntry {
  /** The path from the top of the folder or archive, with slashes. It is safe, and unique on every file system. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

/** Reports a source that cannot be converted, with one line for each fault. */
export class SourceFault extends Error {
  override readonly name = 'SourceFault';
  readonly faults: string[];

  constructor(...faults: string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

const maxTextBytes = 32 * 1024 ** 2;

/**
 * The files that someone wants to import: of a folder, of an archive, or a single one. They have passed the limits of the
 * package reader: names, number, sizes, compression ratio.
 */
export class Source {
  /** The name of the file or folder. */
  readonly name: string;
  /** Sorted by path. */
  readonly files: readonly SourceEntry[];
  readonly #open: (path: string) => Promise<Readable>;
  readonly #sizes: ReadonlyMap<string, number>;
  #last: { path: string; text: string | null } | null = null;

  constructor(name: string, files: readonly SourceEntry[], open: (path: string) => Promise<Readable>) {
    this.name = name;
    this.files = files;
    this.#open = open;
    this.#sizes = new Map(files.map(({ path, size }) => [path, size]));
  }

  has(path: string): boolean {
    return this.#sizes.has(path);
  }

  /** Opens a file. Its stream fails unless it has exactly the listed bytes. */
  open(path: string): Promise<Readable> {
    return this.#open(path);
  }

  /** Reads a file as a whole. @throws {SourceFault} if it is larger than `maxBytes` */
  async bytes(path: string, maxBytes = maxTextBytes): Promise<Buffer> {
    const size = this.#sizes.get(path) ?? 0;
    if (size > maxBytes) throw new SourceFault(`${path}: is ${size} bytes; at most ${maxBytes} are allowed`);
    const chunks: Buffer[] = [];
    for await (const chunk of await this.open(path)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  /**
   * Reads a text in UTF-8, UTF-16 or Windows-1252, with `\n` at the ends of its lines.
   *
   * @throws {SourceFault} if it is too large, or no text
   */
  async text(path: string): Promise<string> {
    const text = await this.#read(path);
    if (text === null) throw new SourceFault(`${path}: is not a text`);
    return text;
  }

  /** Returns the text of a source that is a single file; null for any other, and for one that is too large. */
  async onlyText(): Promise<string | null> {
    const [file, ...others] = this.files;
    if (file === undefined || others.length > 0 || file.size > maxTextBytes) return null;
    return this.#read(file.path);
  }

  /** The path of the file of {@link onlyText}. */
  get onlyPath(): string {
    return this.files[0]?.path ?? this.name;
  }

  /** Keeps the last text, which each converter inspects. */
  async #read(path: string): Promise<string | null> {
    if (this.#last?.path !== path) {
      const text = decodeText(await this.bytes(path))?.text.replaceAll(/\r\n?/g, '\n') ?? null;
      this.#last = { path, text };
    }
    return this.#last.text;
  }

  /** The name without its extension, as a title: "question_bank-2.txt" becomes "question bank-2". */
  get title(): string {
    const name = this.name
      .replace(/\.[^.]*$/, '')
      .replaceAll('_', ' ')
      .trim();
    return name === '' ? quote(this.name) : name.slice(0, 200);
  }
}
