import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from './paths.ts';

let common: Set<string> | undefined;

/**
 * Returns whether a password is among the 20,000 most frequent ones with 10 or more characters in data breaches,
 * regardless of case. The list is from Mark Burnett's ten million passwords, which he released to the public domain
 * in 2015, as SecLists distributes them (MIT).
 */
export function isCommonPassword(password: string): boolean {
  // Loaded at the first password that is set, which is rare. Compressed, so that searches do not find its words.
  common ??= new Set(
    gunzipSync(readFileSync(join(packageRoot, 'shared', 'platform', 'common-passwords.txt.gz')))
      .toString()
      .split('\n'),
  );
  return common.has(password.normalize('NFKC').toLowerCase());
}
