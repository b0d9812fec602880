/**
 * Returns whether a text is a URL, as `URL.canParse` should: that one refuses Latin-1 letters ("https://münchen.example")
 * on Node.js 20 once it has been called often enough to be optimized.
 */
export function isUrl(text: string, base?: string | URL): boolean {
  try {
    return new URL(text, base) instanceof URL;
  } catch {
    return false;
  }
}
