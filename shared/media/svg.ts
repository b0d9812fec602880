import { SaxesParser } from 'saxes';
import type { SaxesAttributeNS, SaxesTagNS } from 'saxes';

/** A larger drawing is a picture for a raster format: browsers take seconds to show it. */
export const maxSvgBytes = 8 * 1024 ** 2;

export function isSvg(mimeType: string): boolean {
  return mimeType.toLowerCase() === 'image/svg+xml';
}

const svgNamespace = 'http://www.w3.org/2000/svg';
const xlinkNamespace = 'http://www.w3.org/1999/xlink';
const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';

/** The parser looks up namespaces in all open elements. */
const maxDepth = 256;

/** Elements that draw, describe or move something. All others go, with their content. */
const keptElements = new Set(
  (
    'a animate animateMotion animateTransform circle clipPath defs desc ellipse filter g image line linearGradient ' +
    'marker mask mpath path pattern polygon polyline radialGradient rect set stop style svg switch symbol text ' +
    'textPath title tspan use view ' +
    'feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap ' +
    'feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode ' +
    'feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence'
  ).split(' '),
);

const animations = new Set(['animate', 'animateMotion', 'animateTransform', 'set']);
const pictures = new Set(['image', 'feImage']);

const rasterData = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/=\s]*$/i;

/** The limit of an entity in a DOCTYPE: drawing programs abbreviate namespaces with them. */
const maxEntityLength = 200;
const maxEntities = 100;

/** Says why a file is not an SVG that browsers show. */
export class SvgFault extends Error {
  override readonly name = 'SvgFault';
}

/**
 * Returns an SVG that runs nothing and contacts no host, even when a browser opens it as a page of the server that
 * stores it. Scripts, event handlers, links, embedded pages and references to other files go. A drawing without them
 * keeps its bytes.
 *
 * @throws {SvgFault} for a file that browsers do not show: not well-formed, another root element, or too large
 */
export function sanitizedSvg(bytes: Buffer): Buffer {
  if (bytes.length > maxSvgBytes) throw new SvgFault(`is larger than ${maxSvgBytes / 1024 ** 2} MiB`);
  const { text, isUtf8 } = decoded(bytes);
  const writer = new SvgWriter(text);
  try {
    writer.parse(text);
  } catch (error) {
    if (error instanceof SvgFault) throw error;
    throw new SvgFault(`is not well-formed XML (${error instanceof Error ? error.message : String(error)})`);
  }
  return isUtf8 && !writer.isChanged ? bytes : Buffer.from(writer.text());
}

function decoded(bytes: Buffer): { text: string; isUtf8: boolean } {
  const [first, second] = bytes;
  const byteOrder =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff && 'utf-16be';
  const declared = /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)/.exec(
    bytes.subarray(0, 200).toString('latin1'),
  )?.[1];
  const encoding = (byteOrder || declared || 'utf-8').toLowerCase();
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), isUtf8: encoding === 'utf-8' };
  } catch {
    throw new SvgFault(`is not text in ${encoding}`);
  }
}

/** Parses an SVG, and writes what may stay. */
class SvgWriter {
  isChanged = false;
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #pieces: string[] = [];
  #depth = 0;
  /** The number of open elements inside one that goes, that one included. */
  #skipped = 0;
  /** The text of the open style element; undefined outside. */
  #style: string | undefined;
  #hasRoot = false;
  /** '' for a drawing without a namespace, which gets the right one: browsers would not show it. */
  #namespace = svgNamespace;

  constructor(source: string) {
    const parser = this.#parser;
    parser.on('doctype', (doctype) => {
      this.isChanged = true;
      this.#defineEntities(doctype, source);
    });
    parser.on('opentag', (tag) => this.#open(tag));
    parser.on('closetag', (tag) => this.#close(tag));
    parser.on('text', (text) => this.#write(text));
    parser.on('cdata', (text) => this.#write(text));
    // A stylesheet or another instruction to a program.
    parser.on('processinginstruction', () => (this.isChanged = true));
  }

  parse(source: string): void {
    this.#parser.write(source).close();
    if (!this.#hasRoot) throw new SvgFault('has no root element');
  }

  text(): string {
    return `${this.#pieces.join('')}\n`;
  }

  /** Entities of entities, whose text can grow without bound, stay unknown, which is a fault. */
  #defineEntities(doctype: string, source: string): void {
    const entities = [...doctype.matchAll(/<!ENTITY\s+([\w.-]{1,100})\s+(?:"([^"&<%]*)"|'([^'&<%]*)')\s*>/g)];
    const longest = Math.max(
      0,
      ...entities.map(([, , double = '', single = '']) => (double || single).length),
    );
    const uses = source.split('&').length - 1;
    if (entities.length > maxEntities || longest > maxEntityLength || uses * longest > maxSvgBytes) {
      throw new SvgFault('has too many or too long entities in its DOCTYPE');
    }
    for (const [, name = '', double, single] of entities)
      this.#parser.ENTITIES[name] = double ?? single ?? '';
  }

  #open(tag: SaxesTagNS): void {
    const { local, uri, name, attributes } = tag;
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new SvgFault(`nests elements more than ${maxDepth} deep`);
    const kept: string[] = [];
    if (!this.#hasRoot) {
      if (local !== 'svg' || (uri !== svgNamespace && uri !== '')) {
        throw new SvgFault(
          `has the root element <${name.slice(0, 50)}> instead of <svg xmlns="${svgNamespace}">`,
        );
      }
      this.#hasRoot = true;
      this.#namespace = uri;
      if (uri === '') {
        this.isChanged = true;
        kept.push(`xmlns="${svgNamespace}"`);
      }
    }
    if (this.#skipped > 0 || this.#style !== undefined || uri !== this.#namespace || !isKept(tag)) {
      this.#skipped += 1;
      this.isChanged = true;
      return;
    }
    for (const attribute of Object.values(attributes)) kept.push(...this.#attribute(tag, attribute));
    this.#pieces.push(`<${[name, ...kept].join(' ')}${tag.isSelfClosing ? '/>' : '>'}`);
    if (local === 'style' && !tag.isSelfClosing) this.#style = '';
  }

  #close({ name, isSelfClosing }: SaxesTagNS): void {
    this.#depth -= 1;
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      return;
    }
    if (this.#style !== undefined) {
      const css = localCss(this.#style);
      if (css !== this.#style) this.isChanged = true;
      this.#pieces.push(escaped(css));
      this.#style = undefined;
    }
    if (!isSelfClosing) this.#pieces.push(`</${name}>`);
  }

  #write(text: string): void {
    if (this.#skipped > 0) return;
    if (this.#style === undefined) this.#pieces.push(escaped(text));
    else this.#style += text;
  }

  /** Returns the text of an attribute; none for one that goes. */
  #attribute({ local: element }: SaxesTagNS, attribute: SaxesAttributeNS): string[] {
    const value = keptValue(element, attribute);
    if (value !== attribute.value) this.isChanged = true;
    return value === null ? [] : [`${attribute.name}="${escaped(value)}"`];
  }
}

function isKept({ local, attributes }: SaxesTagNS): boolean {
  if (!keptElements.has(local)) return false;
  // An animation could set what the drawing itself must not have.
  const animated = attributes.attributeName?.value.trim() ?? '';
  return !animations.has(local) || /^(?!on|href|style|src)[a-z-]*$/i.test(animated);
}

/** Returns the value of an attribute, or a part of it that loads nothing; null for an attribute that goes. */
function keptValue(element: string, { local, prefix, uri, value }: SaxesAttributeNS): string | null {
  if (prefix === 'xmlns' || (prefix === '' && local === 'xmlns')) return value;
  if (local === 'href' && (uri === '' || uri === xlinkNamespace)) {
    const href = value.trim();
    return href.startsWith('#') || (pictures.has(element) && rasterData.test(href)) ? value : null;
  }
  if (uri === xmlNamespace) return local === 'base' ? null : value;
  if (uri !== '' || /^(?:on|src|href|base$)/i.test(local)) return null;
  if (local === 'style') return localCss(value);
  return isLocalCss(value) ? value : null;
}

/**
 * Returns CSS without what loads files: imports go, and URLs refer to nothing. Empty if that is not enough. Repetitions
 * are limited, because their time would grow with the square of their length.
 */
function localCss(css: string): string {
  if (isLocalCss(css)) return css;
  const repaired = css
    .replace(/@import\s{0,100}(?:url\([^()]{0,2000}\)|"[^"]{0,2000}"|'[^']{0,2000}')[^;]{0,200};?/gi, '')
    .replace(/url\((?!\s{0,20}["']?\s{0,20}(?:#|data:))[^()]{0,2000}\)/gi, 'url(#)');
  return isLocalCss(repaired) ? repaired : '';
}

/** Functions that load a file without `url()`. */
const loading = /(?<![\w-])(?:-webkit-)?(?:image-set|image|src|cross-fade|element|paint)\(/i;
const foreignUrl =
  /url\((?!\s{0,20}["']?\s{0,20}(?:#|data:(?:image\/(?:png|jpeg|gif|webp|avif)|font\/|application\/(?:x-)?font))|\s{0,20}\))/i;

/** Returns whether CSS, or an attribute that is CSS, loads no file. Escapes could spell any of these names. */
function isLocalCss(css: string): boolean {
  return !css.includes('\\') && !/@import/i.test(css) && !loading.test(css) && !foreignUrl.test(css);
}

function escaped(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) =>
    /\s/.test(character) ? character : `&#${character.charCodeAt(0)};`,
  );
}
