import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { extension } from 'mime-types';
import { decodePath } from '../../platform/parse-url.ts';
import type { ConvertedMedia } from '../media.ts';
import { SourceFault } from '../source.ts';

/** Returns whether a reference has a scheme or a host, so that it leads to no file of the package. */
export function isAbsolute(href: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:|[\\/])/i.test(href.trim());
}

/**
 * Returns the path of a file that another file refers to.
 *
 * @returns null for a URL, or for a path out of the package
 */
export function pathFrom(base: string, href: string): string | null {
  const written = href.trim().replace(/[?#].*$/s, '');
  if (written === '' || isAbsolute(written)) return null;
  const path = posix.normalize(posix.join(posix.dirname(base), decodePath(written.replaceAll('\\', '/'))));
  return path === '..' || path.startsWith('../') ? null : path;
}

/**
 * Returns the path of a file that a manifest names.
 *
 * @throws {SourceFault} if it leads out of the package
 */
export function manifestPath(base: string, href: string, place: string): string {
  const path = pathFrom(base, href);
  if (path === null)
    throw new SourceFault(`${place}: the path ${href.slice(0, 200)} leads out of the package`);
  return path;
}

/** Returns the reference to a medium that is written into a `data:` URL; null for other URLs. */
export function embeddedMedium(href: string, media: ConvertedMedia): string | null {
  const [, type = '', base64 = ''] = /^\s*data:([a-z]+\/[a-z0-9.+-]+);base64,(.*)$/is.exec(href) ?? [];
  const ending = extension(type);
  if (ending === false || !/^(?:image|audio|video)\//i.test(type)) return null;
  const bytes = Buffer.from(base64, 'base64');
  return media.bytes(`${createHash('sha256').update(bytes).digest('hex')}.${ending}`, bytes);
}
