import { generateKeyPair } from 'jose';

const pairs: ReturnType<typeof generateKeyPair>[] = [];
let count = 0;

/** Returns one of eight key pairs of this process in turn: creating another takes a quarter of a second of CPU time. */
export function sharedKeyPair(
  ...given: Parameters<typeof generateKeyPair>
): ReturnType<typeof generateKeyPair> {
  count = (count + 1) % 8;
  return (pairs[count] ??= generateKeyPair(...given));
}
