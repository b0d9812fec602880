import { recordOf } from '../../../lessons/json-values.ts';
import { isHttpUrl } from '../../../platform/parse-url.ts';
import type { ContentType } from '../contents.ts';
import { htmlOf, linkHtml, plainOf } from '../texts.ts';

/* Texts and links. */

function text(element: string): ContentType {
  return {
    element,
    result: 'converted',
    becomes: '`Text`',
    convert({ params }) {
      const html = htmlOf(params.text);
      return html === '' ? null : [{ type: 'Text', props: { html } }];
    },
  };
}

/** Returns a link, if its address is http, https or mailto. */
function linkTo(address: string, title: string): string | null {
  if (!isHttpUrl(address) && !/^mailto:\S+$/i.test(address)) return null;
  return `<p>${linkHtml(address, title || address)}</p>`;
}

const link: ContentType = {
  element: 'H5P.Link',
  result: 'converted',
  becomes: '`Text` with the link',
  convert(content) {
    const { linkWidget, title, url } = content.params;
    const { protocol, url: rest } = recordOf(linkWidget);
    // Until version 1.1, the address was in one piece.
    const prefix = protocol === 'other' ? '' : plainOf(protocol);
    const address = rest === undefined ? plainOf(url) : `${prefix}${plainOf(rest)}`;
    const html = linkTo(address, plainOf(title));
    content.lose('its address is not that of a page', html === null && address !== '');
    return html === null ? null : [{ type: 'Text', props: { html } }];
  },
};

const iframe: ContentType = {
  element: 'H5P.IFrameEmbed',
  result: 'partial',
  becomes: '`Text` with a link to the page',
  convert(content) {
    const html = linkTo(plainOf(content.params.source), content.title);
    content.lose(html === null ? 'its address is not that of a page' : 'the page opens in a new tab');
    return html === null ? null : [{ type: 'Text', props: { html } }];
  },
};

export const textTypes = [text('H5P.AdvancedText'), text('H5P.Text'), text('H5P.Table'), link, iframe];
