import { isUrl } from '../../shared/platform/is-url.ts';

/** The origins of addresses, each once; what is none has none. */
export function originsOf(addresses: readonly (string | undefined)[]): string[] {
  const known = addresses.filter((address) => address !== undefined && isUrl(address));
  return [...new Set(known.map((address) => new URL(address ?? '').origin))].filter(
    (origin) => origin !== 'null',
  );
}
