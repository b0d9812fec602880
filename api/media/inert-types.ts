/** Types that a browser shows or plays and never runs as a page. */
const inertFamilies = /^(image|audio|video|font)\/[\w.+-]+$/;

/** A browser takes these for a page, whatever stands before the plus. */
const xmlSuffix = /\+xml$/;

const inertTypes = new Set([
  'application/json',
  'application/ogg',
  'image/svg+xml',
  'text/css',
  'text/javascript',
  'text/plain',
  'text/vtt',
]);

/**
 * Whether a file of this type may be served as what it is. Scripts and style sheets count: opened by themselves they
 * are text. An SVG can hold script, which {@link assetPolicy} keeps from running.
 */
export function isInert(mimeType: string): boolean {
  return inertTypes.has(mimeType) || (inertFamilies.test(mimeType) && !xmlSuffix.test(mimeType));
}

/**
 * The Content-Security-Policy of every asset: one that is opened by itself is a page without an origin, and without
 * script, requests, forms and plugins. What an SVG needs to look right stays.
 */
export const assetPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; sandbox";
