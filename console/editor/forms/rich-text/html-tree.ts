/** An element, a text or a comment of an author's HTML, apart from any document: nothing in it loads or runs. */
export type HtmlNode = HtmlElement | string | { readonly comment: string };

export interface HtmlElement {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly children: readonly HtmlNode[];
}

export type Attributes = Readonly<Record<string, string>>;

/** Parses HTML as browsers do inside `body`. */
export type ParseHtml = (html: string) => HtmlNode[];

const voidTags = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** Elements whose text HTML does not escape. */
const rawTextTags = new Set('iframe noembed noframes plaintext script style xmp'.split(' '));

/** Comes before the name of attributes with styles, which the console's policy reports in every document. */
const disguise = `x${crypto.randomUUID().slice(0, 8)}-`;

const styleAttribute = /(?<=[\s"']|(?<!<)\/)(?=style[\s=/>])/gi;

/** Returns HTML whose styles the browser does not see. {@link treeOf} returns them. */
export function withoutStyles(html: string): string {
  return html.replace(styleAttribute, disguise);
}

/** Parses HTML in the browser. The nodes of a template belong to an inert document. */
export const parseInBrowser: ParseHtml = (html) => treeOf(templateOf(html).content);

/** Returns a template with HTML. */
export function templateOf(html: string): HTMLTemplateElement {
  const template = document.createElement('template');
  template.innerHTML = withoutStyles(html);
  return template;
}

/** Returns the children of a node of a document, with the styles that {@link withoutStyles} has hidden. */
export function treeOf(parent: ParentNode & Node): HtmlNode[] {
  const holder = parent instanceof HTMLTemplateElement ? parent.content : parent;
  return [...holder.childNodes].flatMap((node): HtmlNode[] => {
    if (node instanceof Element) {
      const attributes = Object.fromEntries(
        [...node.attributes].map(({ name, value }) => [shown(name), shown(value)]),
      );
      return [{ tag: node.localName, attributes, children: treeOf(node) }];
    }
    if (node.nodeType === Node.COMMENT_NODE) return [{ comment: shown(node.nodeValue ?? '') }];
    return node.nodeValue === null ? [] : [shown(node.nodeValue)];
  });
}

function shown(text: string): string {
  return text.replaceAll(disguise, '');
}

export function isElement(node: HtmlNode): node is HtmlElement {
  return typeof node === 'object' && 'tag' in node;
}

/** Writes HTML as browsers do. */
export function writeHtml(nodes: readonly HtmlNode[], isRaw = false): string {
  return nodes
    .map((node) => {
      if (typeof node === 'string') return isRaw ? node : escapeText(node);
      if (!isElement(node)) return `<!--${node.comment}-->`;
      const attributes = Object.entries(node.attributes).map(
        ([name, value]) => ` ${name}="${escapeText(value).replaceAll('"', '&quot;')}"`,
      );
      const start = `<${node.tag}${attributes.join('')}>`;
      if (voidTags.has(node.tag)) return start;
      const content = writeHtml(node.children, rawTextTags.has(node.tag));
      // Parsers drop a line break after the tag.
      const first = node.tag === 'pre' && content.startsWith('\n') ? '\n' : '';
      return `${start}${first}${content}</${node.tag}>`;
    })
    .join('');
}

function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('\u00a0', '&nbsp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
