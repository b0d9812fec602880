import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

/**
 * A log file of bounded size: at `maxBytes` it becomes `<file>.1`, replacing the one before, and a new one is
 * begun. Returns the function that writes one line. Lines are few, so they are written at once, and the last
 * one before a crash is there.
 */
export function openBoundedLog(file: string, maxBytes = 5_000_000): (line: string) => void {
  let descriptor = openSync(file, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  return (line) => {
    if (size > maxBytes) {
      closeSync(descriptor);
      renameSync(file, `${file}.1`);
      descriptor = openSync(file, 'a', 0o600);
      size = 0;
    }
    size += writeSync(descriptor, `${line}\n`);
  };
}
