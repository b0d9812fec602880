/** Boxes whose children lead to the descriptions of the tracks. */
const containers = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);

/** Boxes that are read as a whole: the kind of a track, and its codecs. */
const readBoxes = new Set(['hdlr', 'stsd']);
const maxBoxBytes = 64 * 1024;

/** Later ones are left out: files have a few, and a hostile one has millions. */
const maxCodecs = 16;

const headerBytes = 8;

/**
 * Collects the codecs of the video and sound tracks of an MP4 or QuickTime file while its bytes pass. Their descriptions
 * may come after the samples, so the whole file must pass; hardly any of it is kept. A file of another format has none.
 */
export class Mp4Codecs {
  /** Four-character codes of sample entries, such as `avc1`; at most 16. */
  readonly found = new Set<string>();
  /** The box that is read; null while its header is. */
  #box: { name: string; rest: number } | null = null;
  #pending: Buffer = Buffer.alloc(0);
  #wanted = headerBytes;
  /** The number of next bytes that are not needed. */
  #skip = 0;
  #isPlayedTrack = false;

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      const skipped = Math.min(this.#skip, chunk.length - at);
      this.#skip -= skipped;
      at += skipped;
      const taken = chunk.subarray(at, at + this.#wanted - this.#pending.length);
      this.#pending = Buffer.concat([this.#pending, taken]);
      at += taken.length;
      if (this.#pending.length < this.#wanted) return;
      const bytes = this.#pending;
      this.#pending = Buffer.alloc(0);
      if (this.#box === null) this.#readHeader(bytes);
      else this.#readBox(bytes, this.#box);
    }
  }

  #readHeader(bytes: Buffer): void {
    const short = bytes.readUInt32BE(0);
    if (short === 1 && bytes.length === headerBytes) {
      // The size follows, in 8 bytes.
      this.#pending = bytes;
      this.#wanted = 2 * headerBytes;
      return;
    }
    this.#wanted = headerBytes;
    const size = short === 1 ? Number(bytes.readBigUInt64BE(headerBytes)) : short;
    const name = bytes.toString('latin1', 4, 8);
    const length = size - bytes.length;
    if (name === 'trak') this.#isPlayedTrack = false;
    if (length < 0) {
      // The last box of a file, without a size, or no box at all.
      this.#skip = Infinity;
    } else if (readBoxes.has(name) && length > 0) {
      this.#wanted = Math.min(length, maxBoxBytes);
      this.#box = { name, rest: length - this.#wanted };
    } else if (!containers.has(name)) {
      this.#skip = length;
    }
  }

  #readBox(bytes: Buffer, { name, rest }: { name: string; rest: number }): void {
    this.#box = null;
    this.#wanted = headerBytes;
    this.#skip = rest;
    // A track of QuickTime has another handler, too, which says where its data is.
    if (name === 'hdlr') this.#isPlayedTrack ||= /^(?:vide|soun)$/.test(bytes.toString('latin1', 8, 12));
    else if (this.#isPlayedTrack) this.#addCodecs(bytes);
  }

  #addCodecs(description: Buffer): void {
    for (const codec of codecsIn(description)) {
      if (this.found.size >= maxCodecs) return;
      this.found.add(codec);
    }
  }
}

/** Yields the codes of the sample entries in a box `stsd`. */
function* codecsIn(description: Buffer): Generator<string> {
  let at = 8;
  while (at + headerBytes <= description.length) {
    const size = description.readUInt32BE(at);
    const entry = description.subarray(at, at + size);
    const code = entry.toString('latin1', 4, 8);
    yield code === 'mp4a' ? (soundCodecOf(entry) ?? code) : code;
    if (size < headerBytes) return;
    at += size;
  }
}

/** Sound in an entry `mp4a` other than AAC and MP3, by the numbers of https://mp4ra.org/registered-types/object-types. */
const soundCodecs: Record<number, string> = { 0xa5: 'ac-3', 0xa6: 'ec-3', 0xa9: 'dtsc' };

function soundCodecOf(entry: Buffer): string | undefined {
  const start = entry.indexOf('esds', 0, 'latin1');
  if (start < 0) return undefined;
  // After version and flags: the descriptor of the stream, with 3 bytes before that of its decoder.
  const decoder = descriptorBody(entry, start + 8) + 3;
  return soundCodecs[entry[descriptorBody(entry, decoder)] ?? 0];
}

/** Returns the position after the tag and the length of a descriptor. The length has up to four bytes. */
function descriptorBody(bytes: Buffer, at: number): number {
  let position = at + 1;
  while (((bytes[position] ?? 0) & 0x80) !== 0) position += 1;
  return position + 1;
}
