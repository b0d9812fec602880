import { createHash } from 'node:crypto';

/** Returns the UUID of a name (RFC 9562, version 5). @param namespace a UUID of any version. */
export function uuidV5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name);
  const bytes = hash.digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidFromHex(bytes.toString('hex'));
}

/** Inserts the hyphens of a UUID into 32 hex digits. */
export function uuidFromHex(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
