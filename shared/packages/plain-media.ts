import { lookup } from 'mime-types';
import { lessonBlocks, memberPath } from '../lessons/blocks.ts';
import { coreWidgetProps } from '../lessons/core-widget-props.ts';
import type { PropKind } from '../lessons/core-widget-props.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import { replaceMediaUrls } from '../lessons/html-media.ts';
import type { MediaKind, ReplaceUrl } from '../lessons/html-media.ts';
import { isRecord, quote } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { uuidV5 } from '../platform/uuid.ts';
import type { PackageMedium } from './lesson-package.ts';
import type { FaultList } from './package-error.ts';
import { extensionOf, pathExtension } from './package-media.ts';
import { maxUrlLength } from './text-shapes.ts';
import { messageOf } from '../platform/errors.ts';
import { parseUrl } from '../platform/parse-url.ts';

/** What is assumed of a file whose address does not say what it is. */
const usualTypes: Record<MediaKind, string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  captions: 'text/vtt',
};

const familiesOf: Record<MediaKind, RegExp> = {
  image: /^image\//,
  video: /^(?:video|audio)\//,
  audio: /^(?:video|audio)\//,
  captions: /^text\/vtt$/,
};

/**
 * Makes external media of the http and https addresses that core widgets load: those in their media props, and in the
 * HTML of their texts. Else a learner's browser would ask the third party, and the archive would lack the file. The
 * same lesson and address have the same id, whenever they are imported.
 *
 * The content is changed in place. Links, and props of custom widgets, stay as they are.
 *
 * @param media of the package; what is made is added.
 * @returns what could not be done, for people.
 */
export function adoptPlainMedia(content: LessonContent, media: PackageMedium[], faults: FaultList): string[] {
  const adoption = new Adoption(content.lesson.id, media);
  const { overrides } = content.lesson.widget_settings;
  const adopt = (type: string | undefined, props: unknown, path: string) => {
    if (type === undefined || !isCoreWidget(type) || !isRecord(props)) return;
    for (const [name, kind] of Object.entries(coreWidgetProps[type])) {
      if (!Object.hasOwn(props, name)) continue;
      try {
        adoption.adopt(props, name, kind, memberPath(path, name));
      } catch (error) {
        // HTML that would take too long to parse.
        faults.add(`lesson.json: ${memberPath(path, name)}`, messageOf(error));
      }
    }
  };
  for (const [type, props] of Object.entries(overrides)) {
    adopt(type, props, memberPath('lesson.widget_settings.overrides', type));
  }
  for (const { block, path } of lessonBlocks(content)) adopt(block.type, block.props, `${path}.props`);
  return adoption.warnings;
}

class Adoption {
  readonly warnings: string[] = [];
  readonly #lessonId: string;
  readonly #media: PackageMedium[];
  readonly #known: Set<string>;

  constructor(lessonId: string, media: PackageMedium[]) {
    this.#lessonId = lessonId;
    this.#media = media;
    this.#known = new Set(media.map(({ id }) => id));
  }

  /** Goes through a member of an object, whatever is in it. */
  adopt(holder: Record<string, unknown>, name: string, kind: PropKind, path: string): void {
    const value = holder[name];
    const replace: ReplaceUrl = (address, mediaKind) => this.#referenceTo(address, mediaKind, path);
    switch (kind) {
      case 'image':
      case 'video':
      case 'audio':
        if (typeof value === 'string') holder[name] = replace(value.trim(), kind) ?? value;
        return;
      case 'captions':
        if (typeof value === 'string') holder[name] = replace(value.trim(), kind) ?? value;
        else this.#eachOf(value, path, (entry, at) => this.adopt(entry, 'src', 'captions', at));
        return;
      case 'html':
        if (typeof value === 'string') holder[name] = replaceMediaUrls(value, replace);
        return;
      case 'choices':
        this.#eachOf(value, path, (choice, at) => {
          for (const text of ['html', 'feedback']) this.adopt(choice, text, 'html', at);
        });
        return;
      case 'feedback':
        if (isRecord(value))
          for (const text of ['right', 'partly', 'wrong']) this.adopt(value, text, 'html', path);
        return;
      case 'plain':
      case 'blocks':
    }
  }

  #eachOf(value: unknown, path: string, use: (entry: Record<string, unknown>, path: string) => void): void {
    if (!Array.isArray(value)) return;
    for (const [index, entry] of (value as unknown[]).entries()) {
      if (isRecord(entry)) use(entry, `${path}[${index}]`);
    }
  }

  #referenceTo(address: string, kind: MediaKind, path: string): string | null {
    const url = elsewhere(address);
    if (url === null && !/^(?:https?:)?[\\/]{2}/i.test(address)) return null;
    const fault =
      url === null
        ? 'is not a valid URL'
        : url.href.length > maxUrlLength
          ? `is longer than ${maxUrlLength} characters`
          : // The player puts a variable's value in.
            address.includes('{{')
            ? 'contains a variable'
            : null;
    if (url === null || fault !== null) {
      this.warnings.push(`lesson.json: ${path}: ${quote(address)} ${fault}, and is not downloaded`);
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
 * Returns where a browser would load an address from, if that is another host than the page's. A browser skips line
 * breaks and tabs, and reads `https:/host` as `https://host` where the page has the other scheme.
 */
function elsewhere(address: string): URL | null {
  for (const page of ['https://page.invalid', 'http://page.invalid']) {
    const url = parseUrl(address, page);
    if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== 'page.invalid') return url;
  }
  return null;
}

function typeOf(url: URL, kind: MediaKind): Pick<PackageMedium, 'mimeType' | 'extension'> {
  const extension = pathExtension(url.pathname);
  const named = extension === undefined ? false : lookup(extension);
  if (extension !== undefined && named !== false && familiesOf[kind].test(named)) {
    return { mimeType: named, extension };
  }
  const mimeType = usualTypes[kind];
  return { mimeType, extension: extensionOf(mimeType) };
}
