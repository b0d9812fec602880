import { isJunk } from 'junk';
import { quote } from '../lessons/json-values.ts';

/** A file of a package. */
export interface SourceFile {
  /** The path from the top of the package, with slashes: `media/cover.jpg`. */
  readonly path: string;
  /** Unpacked bytes. */
  readonly size: number;
}

const maxLength = 1_024;
const maxSegments = 32;

/**
 * Returns the fault of an unsafe path inside a package; undefined for a safe path. A safe path is relative, has slashes
 * between plain names, and means the same file to every tool and file system.
 */
export function entryNameFault(name: string): string | undefined {
  if (name === '') return 'the path is empty';
  if (name.length > maxLength) return `the path is longer than ${maxLength} characters`;
  if (name.includes('\0')) return 'the path contains a NUL character';
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(name)) return 'the path contains control characters';
  if (name.includes('\uFFFD')) return 'the path is not valid UTF-8';
  if (name.includes('\\')) return 'the path contains a backslash';
  if (name.startsWith('/')) return 'the path is absolute';
  if (/^[A-Za-z]:/.test(name)) return 'the path begins with a drive letter';
  const segments = name.split('/');
  if (segments.includes('..')) return 'the path leads out of its folder (..)';
  if (segments.includes('.') || segments.includes('')) return 'the path contains an empty part';
  if (segments.length > maxSegments) return `the path is deeper than ${maxSegments} folders`;
  return undefined;
}

/** Recognizes files that operating systems and editors leave in folders and archives. They are ignored. */
export function isIgnoredEntry(name: string): boolean {
  const isSystemFile = (segment: string) => isJunk(segment) || /^(?:thumbs\.db|desktop\.ini)$/i.test(segment);
  // Java's jar adds the folder META-INF.
  return /^META-INF(?:\/|$)/.test(name) || name.split('/').some(isSystemFile);
}

/**
 * Returns the normalized form of a path, by which files are found. macOS writes accents as separate characters (NFD); a
 * manifest writes them combined with their letters (NFC).
 */
export function samePath(name: string): string {
  return name.normalize('NFC');
}

/** Formats a path for a message: quoted and escaped unless it is plain text. */
export function shownPath(name: string): string {
  return /^[^\p{C}\u2028\u2029]{1,200}$/u.test(name) && name.trim() === name ? name : quote(name, 200);
}
