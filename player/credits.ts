import { element } from './dom.ts';
import { record, text } from './props.ts';
import { message } from '../shared/i18n/message.ts';
import type { MediaAttribution } from '../shared/lessons/player-lesson.ts';
import { isHttpUrl } from '../shared/platform/parse-url.ts';

/** The credits of a lesson's media. */
export interface Credits {
  /** Makes a line with the credits of the media that a text refers to, such as a `src` or HTML; empty without any. */
  lineFor(this: void, source: string): HTMLElement[];
  /** Makes a closed list of all credits; empty without any. */
  list(this: void, language: string): HTMLElement[];
}

const reference = /(?:media:|\.\/media\/)([\da-f]{8}-[\da-f-]{27})/gi;

/** @param attributions as in player data or a manifest, unchecked */
export function creditsFrom(attributions: unknown): Credits {
  const all = (Array.isArray(attributions) ? attributions : []).map(readAttribution);
  return {
    lineFor(source) {
      const ids = new Set([...source.matchAll(reference)].map(([, id = '']) => id.toLowerCase()));
      const shown = partsOf(all.filter(({ mediaId }) => ids.has(mediaId)));
      if (shown.length === 0) return [];
      const line = element('p', { class: 'lectern-media-note' });
      shown.forEach((part, index) => line.append(...(index > 0 ? [' · '] : []), part));
      return [line];
    },
    list(language) {
      const parts = partsOf(all);
      if (parts.length === 0) return [];
      const heading = element('summary', {}, message(language, 'widget.credits'));
      const items = parts.map((part) => element('li', {}, part));
      return [element('details', { class: 'lectern-credits' }, heading, element('ul', {}, ...items))];
    },
  };
}

function readAttribution(value: unknown): MediaAttribution {
  const { mediaId, text: name, url, portfolioUrl } = record(value);
  return {
    mediaId: text(mediaId).toLowerCase(),
    text: text(name),
    url: text(url),
    portfolioUrl: text(portfolioUrl),
  };
}

/** Makes each different credit once. */
function partsOf(attributions: readonly MediaAttribution[]): HTMLElement[] {
  const parts = new Map<string, HTMLElement>();
  for (const { text: name, url, portfolioUrl } of attributions) {
    const part = element('span', {}, link(url, name || url || portfolioUrl));
    if (isHttpUrl(portfolioUrl) && portfolioUrl !== url)
      part.append(' (', link(portfolioUrl, portfolioUrl), ')');
    if (part.textContent !== '') parts.set(part.innerHTML, part);
  }
  return [...parts.values()];
}

/** Returns a link, or only its text where the URL is not one of the web. */
function link(href: string, name: string): HTMLElement | string {
  return isHttpUrl(href) ? element('a', { href, target: '_blank', rel: 'noopener noreferrer' }, name) : name;
}
