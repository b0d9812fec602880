import { extension as usualExtensionOf, lookup } from 'mime-types';
import { isSameFormat } from './content-types.ts';

/**
 * Extensions of files that browsers, servers and operating systems show, play or download, and never run: a learning
 * platform or a web server takes the type from the name. SVGs are among them because Lectern removes their scripts
 * (svg.ts). Playlists are not: players would load the files of other hosts that they name.
 */
const passiveExtensions = new Set(
  (
    'apng avif bmp gif heic heif ico jpeg jpg png svg tif tiff webp ' +
    'aac aif aiff flac m4a mid midi mp3 oga ogg opus wav weba wma ' +
    'avi m4v mkv mov mp4 mpeg mpg ogv ts webm wmv 3gp 3gpp 3g2 ogx ' +
    'srt vtt ' +
    'csv docx epub json odp ods odt pdf pptx txt xlsx zip ' +
    'otf ttf woff woff2'
  ).split(' '),
);

const downloadType = 'application/octet-stream';

/** Returns the usual extension of a MIME type; 'bin' if there is none. */
export function extensionOf(mimeType: string | undefined): string {
  const known = mimeType === undefined ? false : usualExtensionOf(mimeType);
  return known === false ? 'bin' : known;
}

/**
 * Returns the type and the extension under which a media file leaves Lectern. Both follow from its type: it keeps the
 * extension of its package if that is one of the type. Formats outside the list become downloads that nothing opens:
 * `.bin`.
 *
 * @param mimeType that the bytes show, or the declared one of a file that is not downloaded yet
 * @param written the extension in the package, in lower case, without the dot
 */
export function passiveFormat(mimeType: string, written: string): { mimeType: string; extension: string } {
  const type = mimeType.toLowerCase();
  const usual = extensionOf(type);
  const extension = [written, usual].find(
    (one) => passiveExtensions.has(one) && (one === usual || isSameFormat(lookup(one) || '', type)),
  );
  if (extension !== undefined) return { mimeType, extension };
  const isPassive = /^(?:image|audio|video|font)\/(?!.*(?:\+xml|mpegurl|scpls)$)/.test(type);
  return { mimeType: isPassive ? mimeType : downloadType, extension: 'bin' };
}
