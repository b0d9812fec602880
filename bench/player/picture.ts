import { crc32, deflateSync } from 'node:zlib';

const width = 960;
const height = 540;

/** One pixel in `grain` has another color, because a plain gradient would compress to almost nothing. */
const grain = 64;

/** Returns a PNG of 960 x 540 pixels and about 170 kB: a gradient with grain, different for each seed. */
export function picture(seed: number): Buffer {
  const row = 1 + 3 * width;
  const pixels = Buffer.alloc(row * height);
  let random = seed;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
      const noise = (random >>> 16) % grain === 0 ? random >>> 27 : 0;
      const color = [(x >> 2) + noise, (y >> 1) + noise, 40 * seed + noise];
      for (const [channel, value] of color.entries()) pixels[y * row + 1 + 3 * x + channel] = value;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a channel, red, green and blue.
  header.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
