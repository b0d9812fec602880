/**
 * Parses a URL, relative to `base` if given; returns null if it is invalid, as `URL.parse` of Node.js 22. `URL.canParse`
 * is no alternative: once Node.js 20 has optimized it, it rejects Latin-1 letters ("https://münchen.example").
 */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** Returns whether a text is an http or https URL with `//`. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && parseUrl(text) !== null;
}

/** Hosts that a header may contain. URLs allow others, such as `*` and `a;b`, which would widen or end a directive. */
const plainHost = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])$/;

/**
 * Returns the origin of an http or https URL in the browser's form; null if there is none that a header may contain.
 * Every origin that enters a header comes from here, whoever named it.
 */
export function headerOrigin(text: string): string | null {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return plainHost.test(url.hostname) ? url.origin : null;
}

/** Returns the directive that lets pages of these origins frame a page. @param origins null for any. */
export function frameAncestors(origins: readonly string[] | null): string {
  const sources = origins === null ? ['*'] : origins.filter((origin) => headerOrigin(origin) === origin);
  return `frame-ancestors ${sources.join(' ') || "'none'"}`;
}

/** Returns a path without percent-encoding; unchanged if that is wrong. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
