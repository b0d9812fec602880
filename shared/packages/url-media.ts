import { lookup } from 'mime-types';
import { lessonBlocks, memberPath } from '../lessons/blocks.ts';
import { coreWidgetProps } from '../lessons/core-widget-props.ts';
import type { PropKind, PropKinds } from '../lessons/core-widget-props.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import { replaceMediaUrls } from '../lessons/html-media.ts';
import type { MediaKind, ReplaceUrl } from '../lessons/html-media.ts';
import { isRecord, quote } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { extensionOf } from '../media/file-formats.ts';
import { uuidV5 } from '../platform/uuid.ts';
import type { PackageMedium } from './lesson-package.ts';
import type { FaultList } from './package-error.ts';
import { pathExtension } from './package-media.ts';
import { maxUrlLength } from './text-shapes.ts';
import { messageOf } from '../platform/errors.ts';
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
 * Turns the http and https URLs that core widgets load, in media props and in HTML texts, into external media of the
 * package. Otherwise learners' browsers would contact a third party, and archives would lack the files. The id of such
 * a file depends on its lesson and URL, so it is the same in each import.
 *
 * Changes the content in place. Keeps links and the props of custom widgets.
 *
 * @param media the package's media, to which the new ones are added
 * @returns warnings about URLs that cannot be media
 */
export function addUrlMedia(content: LessonContent, media: PackageMedium[], faults: FaultList): string[] {
  const urlMedia = new UrlMedia(content.lesson.id, media);
  const { overrides } = content.lesson.widget_settings;
  const addAll = (type: string | undefined, props: unknown, path: string) => {
    if (type === undefined || !isCoreWidget(type) || !isRecord(props)) return;
    for (const [name, kind] of Object.entries(coreWidgetProps[type])) {
      if (!Object.hasOwn(props, name)) continue;
      try {
        urlMedia.addFrom(props, name, kind, memberPath(path, name));
      } catch (error) {
        // The HTML would take too long to parse.
        faults.add(`lesson.json: ${memberPath(path, name)}`, messageOf(error));
      }
    }
  };
  for (const [type, props] of Object.entries(overrides)) {
    addAll(type, props, memberPath('lesson.widget_settings.overrides', type));
  }
  for (const { block, path } of lessonBlocks(content)) addAll(block.type, block.props, `${path}.props`);
  return urlMedia.warnings;
}

class UrlMedia {
  readonly warnings: string[] = [];
  readonly #lessonId: string;
  readonly #media: PackageMedium[];
  readonly #known: Set<string>;

  constructor(lessonId: string, media: PackageMedium[]) {
    this.#lessonId = lessonId;
    this.#media = media;
    this.#known = new Set(media.map(({ id }) => id));
  }

  /** Replaces the URLs in a member of an object, which may have any value. */
  addFrom(holder: Record<string, unknown>, name: string, kind: PropKind, path: string): void {
    const value = holder[name];
    const replace: ReplaceUrl = (url, mediaKind) => this.#referenceTo(url, mediaKind, path);
    if (typeof kind === 'object') {
      if ('list' in kind) this.#eachOf(value, path, (entry, at) => this.#addAll(entry, kind.list, at));
      else if (isRecord(value)) this.#addAll(value, kind.object, path);
      return;
    }
    switch (kind) {
      case 'image':
      case 'video':
      case 'audio':
        if (typeof value === 'string') holder[name] = replace(value.trim(), kind) ?? value;
        return;
      case 'captions':
        if (typeof value === 'string') holder[name] = replace(value.trim(), kind) ?? value;
        else this.#eachOf(value, path, (entry, at) => this.addFrom(entry, 'src', 'captions', at));
        return;
      case 'html':
        if (typeof value === 'string') holder[name] = replaceMediaUrls(value, replace);
        return;
      case 'plain':
      case 'text':
      case 'blocks':
    }
  }

  /** Replaces the URLs in the members of an object. The path locates the object for authors. */
  #addAll(holder: Record<string, unknown>, kinds: PropKinds, path: string): void {
    for (const [name, kind] of Object.entries(kinds)) {
      if (Object.hasOwn(holder, name)) this.addFrom(holder, name, kind, path);
    }
  }

  #eachOf(value: unknown, path: string, use: (entry: Record<string, unknown>, path: string) => void): void {
    if (!Array.isArray(value)) return;
    for (const [index, entry] of (value as unknown[]).entries()) {
      if (isRecord(entry)) use(entry, `${path}[${index}]`);
    }
  }

  #referenceTo(written: string, kind: MediaKind, path: string): string | null {
    const url = foreignUrl(written);
    if (url === null && !/^(?:https?:)?[\\/]{2}/i.test(written)) return null;
    const fault =
      url === null
        ? 'is not a valid URL'
        : url.href.length > maxUrlLength
          ? `is longer than ${maxUrlLength} characters`
          : // The player replaces variables with their values.
            written.includes('{{')
            ? 'contains a variable'
            : null;
    if (url === null || fault !== null) {
      this.warnings.push(`lesson.json: ${path}: ${quote(written)} ${fault}, and is not downloaded`);
      return null;
    }
    const { hash } = url;
    url.hash = '';
    const id = uuidV5(this.#lessonId, url.href);
    if (!this.#known.has(id)) {
      this.#known.add(id);
      this.#media.push({ id, ...typeOf(url, kind), sourceUrl: url.href, attributions: [] });
    }
    return `media:${id}${hash}`;
  }
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
