/** Divides a list into lists of at most this length. */
export function* groupsOf<T>(list: readonly T[], length: number): Generator<T[]> {
  for (let from = 0; from < list.length; from += length) yield list.slice(from, from + length);
}
