import { createHash } from 'node:crypto';

/**
 * Returns the UUID of a name in a namespace (RFC 9562, version 5): the same for the same two.
 *
 * @param namespace a UUID, of any version
 */
export function uuidV5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name);
  const bytes = hash.digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidFromHex(bytes.toString('hex'));
}

/** Returns a UUID of 32 hex digits with its hyphens. */
export function uuidFromHex(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
