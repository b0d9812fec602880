import type { ConvertedBlock } from '../converted-lesson.ts';
import type { ConvertedMedia } from '../media.ts';
import { escapeHtml, wordsOf } from '../questions/question-blocks.ts';
import type { XmlElement } from '../xml.ts';
import { embeddedMedium, isAbsolute, pathFrom } from './files.ts';
import { gapMark, withoutMarks } from './item.ts';
import type { Feedback, Interaction, Part } from './item.ts';

const voidElements = new Set(['br', 'hr', 'img', 'col', 'wbr']);
const keptAttributes = new Set(
  'alt title lang dir width height colspan rowspan headers scope abbr start type datetime cite href src'.split(
    ' ',
  ),
);
const mediaTypes = {
  video: /\.(?:mp4|m4v|webm|og[gv]|mov)$/i,
  audio: /\.(?:mp3|m4a|og[ga]|opus|wav|aac|flac)$/i,
};

/** What the elements of an item mean that are no HTML. */
export interface BodyReader {
  /** Reads an interaction; null for any other element. */
  interaction: (element: XmlElement) => Interaction | null;
  isInline: (interaction: Interaction) => boolean;
}

/** Reads the texts of an item: XHTML with interactions, feedback and media. */
export class ItemBody {
  readonly feedbacks: Feedback[] = [];
  readonly losses = new Set<string>();
  readonly #path: string;
  readonly #media: ConvertedMedia;

  /** @param path of the file, which references are relative to */
  constructor(path: string, media: ConvertedMedia) {
    this.#path = path;
    this.#media = media;
  }

  /** Divides a text at its interactions and media. */
  parts(body: XmlElement, reader: BodyReader): Part[] {
    const parts: Part[] = [];
    const gaps: Interaction[] = [];
    const inline = (element: XmlElement): string | null => {
      const interaction = reader.interaction(element);
      if (interaction === null) return null;
      return gapMark(gaps.push(interaction) - 1);
    };
    let html = '';
    const close = () => {
      if (html.trim() !== '') parts.push({ kind: 'html', html: html.trim(), gaps: gaps.splice(0) });
      html = '';
    };
    const walk = (nodes: readonly (XmlElement | string)[]) => {
      for (const node of nodes) {
        const special = typeof node === 'string' ? null : this.#blockPart(node, reader);
        if (special !== null) {
          close();
          parts.push(special);
        } else if (typeof node === 'string' || !this.#hasBlockPart(node, reader)) {
          html += this.html([node], inline);
        } else walk(node.nodes);
      }
    };
    walk(body.nodes);
    close();
    return parts;
  }

  #hasBlockPart(element: XmlElement, reader: BodyReader): boolean {
    return element.children.some(
      (child) => this.#isBlockPart(child, reader) || this.#hasBlockPart(child, reader),
    );
  }

  #isBlockPart(element: XmlElement, reader: BodyReader): boolean {
    if (playedKind(element) !== null) return true;
    return isInteraction(element) && !reader.isInline({ element: element.name } as Interaction);
  }

  #blockPart(element: XmlElement, reader: BodyReader): Part | null {
    if (!this.#isBlockPart(element, reader)) return null;
    const kind = playedKind(element);
    if (kind !== null) {
      const block = this.player(element, kind);
      return block === null ? { kind: 'html', html: '', gaps: [] } : { kind: 'block', block };
    }
    const interaction = reader.interaction(element);
    return interaction && { kind: 'interaction', interaction };
  }

  /** Returns a player for a video or recording; null, with a loss, for a missing file. */
  player(element: XmlElement, kind: 'video' | 'audio'): ConvertedBlock | null {
    const src = this.reference(sourceOf(element));
    return src === null ? null : { type: kind === 'video' ? 'Video' : 'Audio', props: { src } };
  }

  /** Returns HTML. @param special returns the HTML of an element that means something else; null for HTML */
  html(
    nodes: readonly (XmlElement | string)[],
    special: (element: XmlElement) => string | null = () => null,
    isMath = false,
  ): string {
    return nodes
      .map((node) =>
        typeof node === 'string'
          ? escapeHtml(withoutMarks(node))
          : (special(node) ?? this.#element(node, special, isMath)),
      )
      .join('');
  }

  #element(element: XmlElement, special: (element: XmlElement) => string | null, isInMath: boolean): string {
    const { name, nodes } = element;
    const isMath = isInMath || name === 'math';
    const inner = () => this.html(nodes, special, isMath);
    switch (name) {
      case 'feedbackInline':
      case 'feedbackBlock':
        this.addFeedback(element);
        return '';
      case 'rubricBlock':
        if (/candidate|^\s*$/.test(element.attributes.view ?? '')) return inner();
        this.losses.add('instructions for scorers and authors are left out');
        return '';
      case 'script':
        this.losses.add('a program (script) is left out');
        return '';
      case 'stylesheet':
      case 'style':
      case 'link':
        return '';
      case 'object':
        return this.#picture(element, sourceOf(element), wordsOf(this.html(nodes)));
      case 'img':
        return this.#picture(element, element.attributes.src ?? '', element.attributes.alt ?? '');
      case 'printedVariable':
        this.losses.add('a value that the program computes is left out');
        return '';
      case 'catalogInfo':
        this.losses.add('texts for other ways of access (catalog) are left out');
        return '';
      case 'infoControl':
      case 'contentBody':
      case 'templateInline':
      case 'templateBlock':
      case 'div':
        return name === 'div' ? `<div>${inner()}</div>` : inner();
      default: {
        const attributes = this.#attributes(element, isMath);
        return voidElements.has(name)
          ? `<${name}${attributes}>`
          : `<${name}${attributes}>${inner()}</${name}>`;
      }
    }
  }

  #attributes({ attributes }: XmlElement, isMath: boolean): string {
    return Object.entries(attributes)
      .flatMap(([name, value]) => {
        const key = name === 'xml:lang' ? 'lang' : name;
        const isKept = isMath ? !/^(?:on|xmlns)/i.test(key) : keptAttributes.has(key);
        if (!isKept) return [];
        if (key !== 'href' && key !== 'src') return ` ${key}="${escapeAttribute(value)}"`;
        const target = /^(?:https?:|mailto:)/i.test(value) ? value : this.reference(value);
        return target === null ? [] : ` ${key}="${escapeAttribute(target)}"`;
      })
      .join('');
  }

  #picture({ attributes }: XmlElement, href: string, alt: string): string {
    const src = this.reference(href);
    if (src === null) return escapeHtml(alt);
    const size = ['width', 'height'].flatMap((name) =>
      /^\d+$/.test(attributes[name] ?? '') ? ` ${name}="${attributes[name]}"` : [],
    );
    return `<img src="${escapeAttribute(src)}" alt="${escapeAttribute(alt)}"${size.join('')}>`;
  }

  /** Returns the reference to a file, `media:<id>` or a URL; null, with a loss, for a missing one. */
  reference(href: string): string | null {
    if (/^https?:/i.test(href)) return href;
    const embedded = embeddedMedium(href, this.#media);
    if (embedded !== null) return embedded;
    const path = pathFrom(this.#path, href);
    const reference = path === null ? null : this.#media.file(path);
    if (reference === null && href.trim() !== '' && !href.startsWith('#')) {
      const shown = href.trim().slice(0, 100);
      this.losses.add(isAbsolute(href) ? `the address ${shown} is left out` : `the file ${shown} is missing`);
    }
    return reference;
  }

  /** Keeps a feedback for the answers that show it. */
  addFeedback(element: XmlElement): void {
    const { outcomeIdentifier: outcome = '', identifier = '', showHide } = element.attributes;
    const html = this.html(element.nodes).trim();
    if (html !== '') this.feedbacks.push({ html, outcome, identifier, isShown: showHide !== 'hide' });
  }
}

export function isInteraction({ name }: XmlElement): boolean {
  return name.endsWith('Interaction');
}

function escapeAttribute(value: string): string {
  return escapeHtml(value).replaceAll('"', '&quot;');
}

/** Returns the URL of a picture, video or recording. */
function sourceOf(element: XmlElement): string {
  const { src, data } = element.attributes;
  const inner = element.children.find(({ name }) => /^(?:source|object|video|audio)$/.test(name));
  return src ?? data ?? (inner === undefined ? '' : sourceOf(inner));
}

/** Returns the kind of a video or recording; null for any other element. */
export function playedKind(element: XmlElement): 'video' | 'audio' | null {
  const { name, attributes } = element;
  if (name === 'video' || name === 'audio') return name;
  if (name !== 'object') return null;
  const source = sourceOf(element).replace(/[?#].*$/, '');
  const { type = '' } = attributes;
  if (type.startsWith('video/') || mediaTypes.video.test(source)) return 'video';
  return type.startsWith('audio/') || mediaTypes.audio.test(source) ? 'audio' : null;
}
