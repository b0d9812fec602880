import { lookup } from 'mime-types';
import { fileUrlFault, isFileUrl } from '../lessons/html-media.ts';
import type { MediaKind, UrlUse } from '../lessons/html-media.ts';
import { quote } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { isMediaId } from '../lessons/media-references.ts';
import { extensionOf } from '../media/file-formats.ts';
import { uuidV5 } from '../platform/uuid.ts';
import type { PackageMedium } from './lesson-package.ts';
import type { FaultList } from './package-error.ts';
import { pathExtension } from './package-media.ts';
import { sizeOfReference } from './picture-sizes.ts';
import type { PictureSizes } from './picture-sizes.ts';
import { replaceUrls } from './replace-urls.ts';
import type { ReplaceLessonUrl } from './replace-urls.ts';
import type { MediaNames } from './media-names.ts';
import { isPageUrl, videoPage } from './page-urls.ts';
import { maxUrlLength } from './text-shapes.ts';
import { parseUrl } from '../platform/parse-url.ts';

/** The MIME type of a file whose URL has no known extension. */
const defaultTypes: Record<MediaKind, string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  captions: 'text/vtt',
};

/** The MIME types that may serve as a kind of media. */
const typePatterns: Record<MediaKind, RegExp> = {
  image: /^image\//,
  video: /^(?:video|audio)\//,
  audio: /^(?:video|audio)\//,
  captions: /^text\/vtt$/,
};

/**
 * Connects a lesson with its files, in place:
 *
 * - File names and paths that manifest.json lists become references: `leaf.jpg` becomes `media:<id>`.
 * - The http and https URLs that core widgets load become external media of the package. Otherwise learners' browsers
 *   would contact a third party, and archives would lack the files. The id of such a file depends on its lesson and
 *   URL, so it is the same in each import.
 *
 * Links to other pages stay, and so do URLs in the props of custom widgets. The URL of a page of YouTube or Vimeo in a
 * `Video` block gets the form that players read (`externalVideo`).
 *
 * Pictures in HTML get the attributes for which players reserve space.
 *
 * @param media the package's media, to which the new ones are added
 * @returns warnings about references that lead nowhere or to pages, and about HTML that learners do not see
 */
export function linkMedia(
  content: LessonContent,
  { media, names, sizes }: { media: PackageMedium[]; names: MediaNames; sizes: PictureSizes },
  faults: FaultList,
): string[] {
  const urlMedia = new UrlMedia(content.lesson.id, media);
  const warnings: string[] = [];
  const replace: ReplaceLessonUrl = (written, use, place) => {
    const named = names.find(written, use === 'customText');
    if (named !== undefined) return named;
    if (use === 'custom' || use === 'customText') return null;
    if (isFileUrl(written)) {
      faults.add(`lesson.json: ${place}`, fileUrlFault(quote(written)));
      return null;
    }
    const { reference, fault } = linked(written, use);
    if (fault !== undefined) warnings.push(`lesson.json: ${place}: ${quote(written)} ${fault}`);
    return reference ?? null;
  };
  const linked = (written: string, use: UrlUse | 'videoBlock'): Linked => {
    if (use === 'link') return linkTo(written);
    const page = use === 'videoBlock' ? videoPage(written) : null;
    if (page !== null) return { reference: page, fault: playsElsewhere };
    return urlMedia.referenceTo(written, use === 'videoBlock' ? 'video' : use);
  };
  const onLost = (element: string, reason: string, place: string) => {
    const source = /="(.*)">$/s.exec(element)?.[1] ?? '';
    const instead = videoPage(source) === null ? '' : '; use a Video block with this URL instead';
    warnings.push(`lesson.json: ${place}: ${element} ${reason}${instead}`);
  };
  replaceUrls(content, replace, { faults, onLost, sizeOf: (src) => sizeOfReference(src, sizes) });
  return [...new Set(warnings)];
}

const playsElsewhere =
  'is shown as a link in archives, and wherever the organization does not allow external videos (lectern org set-external-videos)';

/** A reference instead of a URL, and what is wrong with it. */
interface Linked {
  reference?: string;
  fault?: string;
}

const nowhere = 'leads nowhere: manifest.json lists no such file';

function linkTo(written: string): Linked {
  // Links to a page, an address, or a note in the same text. The player replaces variables with their values.
  return /^(?:[a-z][a-z0-9+.-]+:|[\\/]{2}|#|$)/i.test(written) || written.includes('{{')
    ? {}
    : { fault: nowhere };
}

class UrlMedia {
  readonly #lessonId: string;
  readonly #media: PackageMedium[];
  readonly #known: Set<string>;

  constructor(lessonId: string, media: PackageMedium[]) {
    this.#lessonId = lessonId;
    this.#media = media;
    this.#known = new Set(media.map(({ id }) => id));
  }

  referenceTo(written: string, kind: MediaKind): Linked {
    const url = foreignUrl(written);
    const isForeign = url !== null || /^(?:https?:)?[\\/]{2}/i.test(written);
    if (!isForeign) return isLocal(written) ? {} : { fault: nowhere };
    const notDownloaded = ' and is not downloaded';
    if (url === null) return { fault: `is not a valid URL,${notDownloaded}` };
    if (url.href.length > maxUrlLength) {
      return { fault: `is longer than ${maxUrlLength} characters,${notDownloaded}` };
    }
    // The player replaces variables with their values.
    if (written.includes('{{')) return { fault: `contains a variable,${notDownloaded}` };
    const isPage = isPageUrl(url);
    const { hash } = url;
    url.hash = '';
    const id = uuidV5(this.#lessonId, url.href);
    if (!this.#known.has(id)) {
      this.#known.add(id);
      this.#media.push({ id, ...typeOf(url, kind), sourceUrl: url.href, attributions: [] });
    }
    return {
      reference: `media:${id}${hash}`,
      ...(isPage && {
        fault:
          'is the URL of a page, which shows nothing here. Put the file into the package, or link to the page',
      }),
    };
  }
}

/** Returns whether a text may show something without a file of the package: an id, inline data, or a variable. */
function isLocal(written: string): boolean {
  return written === '' || /^data:/i.test(written) || written.includes('{{') || isMediaId(written);
}

/**
 * Parses a URL as a browser does; null if it is relative to the page. A browser skips line breaks and tabs, and reads
 * `https:/host` as `https://host` if the page has the other scheme.
 */
function foreignUrl(written: string): URL | null {
  for (const page of ['https://page.invalid', 'http://page.invalid']) {
    const url = parseUrl(written, page);
    if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== 'page.invalid') return url;
  }
  return null;
}

function typeOf(url: URL, kind: MediaKind): Pick<PackageMedium, 'mimeType' | 'extension'> {
  const extension = pathExtension(url.pathname);
  const known = extension === undefined ? false : lookup(extension);
  if (extension !== undefined && known !== false && typePatterns[kind].test(known)) {
    return { mimeType: known, extension };
  }
  const mimeType = defaultTypes[kind];
  return { mimeType, extension: extensionOf(mimeType) };
}
