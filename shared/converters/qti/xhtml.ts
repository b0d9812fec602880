import { html as html5, parseFragment } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** Elements of HTML that items of QTI may have; the contents of others stay. */
const kept = new Set(
  (
    'a abbr acronym address article aside audio b bdi bdo big blockquote br caption cite code col colgroup dd details ' +
    'dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img kbd li ol p pre q rp rt ruby samp ' +
    'section small source span strong sub summary sup table tbody td tfoot th thead tr track tt ul var video'
  ).split(' '),
);
const dropped = new Set([
  'script',
  'style',
  'template',
  'iframe',
  'object',
  'embed',
  'link',
  'meta',
  'noscript',
]);
const attributes = new Set(
  'alt colspan controls dir height href kind label lang poster rowspan scope span src srclang start title type width'.split(
    ' ',
  ),
);

/** Returns HTML as XML for items of QTI. Scripts, forms and styles are left out. */
export function toXhtml(html: string): string {
  return nodesOf(parseFragment(html).childNodes, false);
}

function nodesOf(nodes: readonly Node[], isMath: boolean): string {
  return nodes
    .map((node) =>
      'tagName' in node ? elementOf(node, isMath) : 'value' in node ? escapeText(node.value) : '',
    )
    .join('');
}

function elementOf(element: Element, isInMath: boolean): string {
  const { tagName, attrs, childNodes } = element;
  if (dropped.has(tagName)) return '';
  const isMath = isInMath || element.namespaceURI === html5.NS.MATHML;
  const inner = nodesOf(childNodes, isMath);
  if (!isMath && !kept.has(tagName)) return inner;
  const own = attrs.filter(({ name, value }) =>
    isMath
      ? /^[a-z]+$/i.test(name) && !/^on|^xmlns$/i.test(name)
      : attributes.has(name) && !/^\s*javascript:/i.test(value),
  );
  const namespace = tagName === 'math' ? ' xmlns="http://www.w3.org/1998/Math/MathML"' : '';
  const written = own
    .map(({ name, value }) => ` ${name}="${escapeText(value || (name === 'controls' ? name : ''))}"`)
    .join('');
  return inner === ''
    ? `<${tagName}${namespace}${written}/>`
    : `<${tagName}${namespace}${written}>${inner}</${tagName}>`;
}

/** Returns text for XML, between tags or in an attribute, without the characters that XML forbids. */
export function escapeText(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
