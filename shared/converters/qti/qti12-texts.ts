import { escapeHtml } from '../questions/question-blocks.ts';
import type { ConvertedMedia } from '../media.ts';
import { childOf, childrenOf, textIn } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { embeddedMedium, pathFrom } from './files.ts';
import { importedHtml } from './imported-html.ts';
import type { HtmlFiles } from './imported-html.ts';

/** Returns the metadata of an element, such as its `question_type`. */
export function metadataOf(element: XmlElement): Map<string, string> {
  const holder = childOf(element, 'itemmetadata') ?? element;
  const fields = childrenOf(holder, 'qtimetadata').flatMap((group) => childrenOf(group, 'qtimetadatafield'));
  const own = childrenOf(holder, 'qtimetadatafield');
  return new Map([...fields, ...own].map((one) => [textIn(one, 'fieldlabel'), textIn(one, 'fieldentry')]));
}

/** Reads the texts of QTI 1.2: HTML in a `mattext`, and pictures beside it. */
export class Texts12 implements HtmlFiles {
  readonly losses = new Set<string>();
  readonly #path: string;
  readonly #media: ConvertedMedia;

  constructor(path: string, media: ConvertedMedia) {
    this.#path = path;
    this.#media = media;
  }

  lose(loss: string): void {
    this.losses.add(loss);
  }

  reference(href: string): string | null {
    const embedded = embeddedMedium(href, this.#media);
    if (embedded !== null) return embedded;
    const [, inPackage] = /^\$IMS[-_]CC[-_]FILEBASE\$\/?(.*)$/s.exec(href) ?? [];
    const paths = [
      inPackage === undefined ? pathFrom(this.#path, href) : pathFrom('x', inPackage),
      inPackage === undefined ? pathFrom('x', href) : pathFrom('web_resources/x', inPackage),
    ];
    const found = paths.flatMap((path) => (path === null ? [] : (this.#media.file(path) ?? [])));
    if (found[0] === undefined) this.lose(`the file ${href.slice(0, 100)} is missing`);
    return found[0] ?? null;
  }

  /** Returns the HTML of all `material` in an element, except inside `without`. */
  html(element: XmlElement | undefined, without: (child: XmlElement) => boolean = () => false): string {
    if (element === undefined || without(element)) return '';
    const { name, attributes } = element;
    if (name === 'mattext') {
      if (/^text\/(?:html|xhtml)|^html$/i.test(attributes.texttype ?? '')) {
        const inner = element.children.length > 0 ? '' : element.text;
        return importedHtml(inner, this);
      }
      const text = element.text.trim();
      return /<\/?[a-z][^>]*>/i.test(text) ? importedHtml(text, this) : escapeHtml(text);
    }
    if (name === 'matimage') {
      const src = this.reference(attributes.uri ?? '');
      return src === null ? '' : `<img src="${src}" alt="${escapeHtml(attributes.label ?? '')}">`;
    }
    return element.children.map((child) => this.html(child, without)).join('');
  }
}
