import { isJunk } from 'junk';
import { quote } from '../lessons/json-values.ts';

const maxLength = 1_024;
const maxSegments = 32;

/**
 * What is wrong with the path of a file inside a package, or undefined. A good path is relative, has slashes
 * between plain names, and means the same file to every tool and file system.
 */
export function entryNameFault(name: string): string | undefined {
  if (name === '') return 'the path is empty';
  if (name.length > maxLength) return `the path is longer than ${maxLength} characters`;
  if (name.includes('\0')) return 'the path has a NUL character in it';
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(name)) return 'the path has control characters in it';
  if (name.includes('\uFFFD')) return 'the path is not valid UTF-8';
  if (name.includes('\\')) return 'the path has a backslash in it';
  if (name.startsWith('/')) return 'the path is absolute';
  if (/^[A-Za-z]:/.test(name)) return 'the path begins with a drive letter';
  const segments = name.split('/');
  if (segments.includes('..')) return 'the path leads out of its folder (..)';
  if (segments.includes('.') || segments.includes('')) return 'the path has an empty part in it';
  if (segments.length > maxSegments) return `the path is deeper than ${maxSegments} folders`;
  return undefined;
}

/** What operating systems and editors leave behind in folders and archives; never a part of a package. */
export function isIgnoredEntry(name: string): boolean {
  const isLeftBehind = (segment: string) => isJunk(segment) || /^(?:thumbs\.db|desktop\.ini)$/i.test(segment);
  return name.split('/').some(isLeftBehind);
}

/**
 * A path as files are found by: macOS writes accents as characters of their own (NFD), where a manifest has them in
 * one with their letter (NFC).
 */
export function samePath(name: string): string {
  return name.normalize('NFC');
}

/** A path as it goes into a message: quoted and escaped when it is not plain to read. */
export function shownPath(name: string): string {
  return /^[^\p{C}\u2028\u2029]{1,200}$/u.test(name) && name.trim() === name ? name : quote(name, 200);
}
