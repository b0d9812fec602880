import type { Context } from 'koa';
import { frameAncestors } from '../../shared/platform/parse-url.ts';
import type { Config } from '../../shared/platform/config.ts';
import { pageUrlsOf } from '../http/public-url.ts';
import { baseSource } from '../player/frame-policy.ts';
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
 * Sets the headers of an embed page. The page holds a learner's token, so it runs only scripts of the player's folder, not
 * even widgets that Lectern serves, sends requests only to Lectern, and sends no referrer.
 *
 * @param allowedOrigins origins that may frame the page; null for any.
 * @param frames origins whose pages it may frame, beside Lectern's
 */
export function setPageHeaders(
  { config, player }: { config: Pick<Config, 'publicUrl'>; player: { name: string } },
  ctx: Context,
  allowedOrigins: readonly string[] | null,
  frames: readonly string[] = [],
): void {
  const folders = pageUrlsOf(ctx, config).map((url) => `${baseSource(url)}/player/${player.name}/`);
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Permissions-Policy', permissions.join(', '));
  ctx.set('X-Robots-Tag', 'noindex');
  const policy = [
    "default-src 'none'",
    ['script-src', ...folders].join(' '),
    ['style-src', ...folders, `'sha256-${pageStyleHash}'`].join(' '),
    "connect-src 'self'",
    ['frame-src', ...folders.map((folder) => `${folder}frame.html`), ...frames].join(' '),
    "img-src 'self' data:",
    // The font of a theme.
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    frameAncestors(allowedOrigins),
  ];
  ctx.set('Content-Security-Policy', policy.join('; '));
}
