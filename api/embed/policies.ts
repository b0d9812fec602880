import type { Context } from 'koa';
import { frameAncestors } from '../../shared/platform/parse-url.ts';
import { pageStyleHash } from './pages.ts';

/** Browser features that the page and its frames may not use. */
const permissions = [
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'serial',
  'usb',
].map((feature) => `${feature}=()`);

/**
 * Sets the headers of an embed page. The page holds a learner's token, so it runs only Lectern's script, sends requests
 * only to Lectern, and sends no referrer.
 *
 * @param allowedOrigins origins that may frame the page; null for any.
 */
export function setPageHeaders(ctx: Context, allowedOrigins: readonly string[] | null): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Permissions-Policy', permissions.join(', '));
  ctx.set('X-Robots-Tag', 'noindex');
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'sha256-${pageStyleHash}'`,
    "connect-src 'self'",
    "frame-src 'self'",
    "img-src 'self' data:",
    // The font of a theme.
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    frameAncestors(allowedOrigins),
  ];
  ctx.set('Content-Security-Policy', policy.join('; '));
}
