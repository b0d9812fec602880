import type { Context } from 'koa';
import { pageStyleHash } from './pages.ts';

/** What neither the page nor anything in it may ask a learner's device for. */
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
 * The headers of an embed page, whatever it shows. It holds a learner's token, so it runs nothing but Lectern's own
 * script, asks nobody but Lectern, and tells no page where it was.
 *
 * @param allowedOrigins whose pages may have it in a frame; null for any.
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
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${allowedOrigins === null ? '*' : allowedOrigins.join(' ')}`,
  ];
  ctx.set('Content-Security-Policy', policy.join('; '));
}
