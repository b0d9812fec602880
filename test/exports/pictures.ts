import { someBytes } from './archives.ts';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const header = Buffer.from('0000000d4948445200000001000000010802000000907753de', 'hex');

/** Returns bytes with the signature of a PNG; different seeds give different bytes. */
export function png(seed: number): Buffer {
  return Buffer.concat([signature, header, someBytes(2000, seed)]);
}

/** Returns bytes with the signature of a PNG and a text. */
export function pngWith(text: string): Buffer {
  return Buffer.concat([signature, header, Buffer.from(text)]);
}
