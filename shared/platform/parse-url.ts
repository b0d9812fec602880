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
