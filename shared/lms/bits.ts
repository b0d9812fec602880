/** Writes numbers of any width into bytes, the highest bit first. */
export class BitWriter {
  readonly #bytes: number[] = [];
  #used = 8;

  write(value: number, width: number): void {
    for (let bit = width - 1; bit >= 0; bit -= 1) {
      if (this.#used === 8) {
        this.#bytes.push(0);
        this.#used = 0;
      }
      const last = this.#bytes.length - 1;
      // Division instead of shifts, which end at 32 bits.
      const isSet = Math.floor(value / 2 ** bit) % 2;
      this.#bytes[last] = (this.#bytes[last] ?? 0) | (isSet << (7 - this.#used));
      this.#used += 1;
    }
  }

  /** Writes a whole number of 0 or more in groups of 7 bits. */
  writeNumber(value: number): void {
    for (let rest = value; ; rest = Math.floor(rest / 128)) {
      this.write(rest >= 128 ? 1 : 0, 1);
      this.write(rest % 128, 7);
      if (rest < 128) return;
    }
  }

  /** Writes a number exactly, in 64 bits. */
  writeDouble(value: number): void {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setFloat64(0, value);
    for (let at = 0; at < 8; at += 1) this.write(bytes.getUint8(at), 8);
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** Reads what {@link BitWriter} wrote. Beyond the end, all bits are 0. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(width: number): number {
    let value = 0;
    for (let bit = 0; bit < width; bit += 1) {
      const byte = this.#bytes[this.#position >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.#position & 7))) & 1);
      this.#position += 1;
    }
    return value;
  }

  readNumber(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 49; factor *= 128) {
      const more = this.read(1);
      value += this.read(7) * factor;
      if (more === 0) break;
    }
    return value;
  }

  readDouble(): number {
    const bytes = new DataView(new ArrayBuffer(8));
    for (let at = 0; at < 8; at += 1) bytes.setUint8(at, this.read(8));
    return bytes.getFloat64(0);
  }

  /** Returns the bytes after the one that was read last. */
  rest(): Uint8Array {
    return this.#bytes.subarray((this.#position + 7) >> 3);
  }
}
