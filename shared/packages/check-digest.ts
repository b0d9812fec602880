import type { Digest } from '../storage/store.ts';
import { PackageError } from './package-error.ts';

/**
 * Compares what was stored of a package's file with what its manifest states.
 *
 * @param expected lower-case hex; undefined when the manifest states nothing.
 * @throws {PackageError} naming the file.
 */
export function checkDigest(
  path: string,
  { sha256 }: Pick<Digest, 'sha256'>,
  expected: string | undefined,
): void {
  if (expected === undefined || sha256 === expected) return;
  throw new PackageError([`${path}: its SHA-256 is ${sha256}, and manifest.json says ${expected}`]);
}
