import { posix } from 'node:path';
import type { Definition, FootnoteDefinition, Nodes, PhrasingContent, RootContent } from 'mdast';
import { replaceMediaUrls } from '../../lessons/html-media.ts';
import type { ContainerDirective, LeafDirective } from 'mdast-util-directive';
import type { ElementCount } from '../../lessons/html-media.ts';
import { quote } from '../../lessons/json-values.ts';
import { LecternError } from '../../platform/errors.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import type { ConversionJob } from '../converter.ts';
import { wordsOf } from '../questions/question-blocks.ts';
import type { AttributeReader } from './attributes.ts';
import { parseMarkdown } from './parse.ts';
import type { ParsedMarkdown } from './parse.ts';
import { renderBlocks, renderInline } from './render.ts';
import type { RenderContext } from './render.ts';
import { decodePath } from '../../platform/parse-url.ts';

/** URLs that are no paths: with a scheme, a host, a fragment or a variable. */
const noPath = /^(?:[a-z][a-z0-9+.-]*:|[\\/]{2}|#|$)|\{\{/i;

/** A Markdown file of a lesson: renders its parts, and finds the files and the lines that they name. */
export class TextFile {
  readonly parsed: ParsedMarkdown;
  readonly #path: string;
  readonly #job: ConversionJob;
  readonly #definitions: (Definition | FootnoteDefinition)[];
  readonly #elements: ElementCount;
  readonly #losses = new Map<Nodes, string[]>();

  constructor(path: string, text: string, job: ConversionJob, elements: ElementCount) {
    this.#path = path;
    this.#job = job;
    this.#elements = elements;
    this.parsed = parseMarkdown(text, path);
    this.#definitions = definitionsIn(this.parsed.root.children);
  }

  fault(node: Nodes, fault: string): void {
    this.#job.faults.add(this.placeOf(node), fault);
  }

  placeOf({ position }: Nodes): string {
    return `${this.#path}:${this.parsed.lineOf(position?.start.line ?? 1)}`;
  }

  /** Returns the Markdown of a node. */
  sourceOf({ position }: Nodes): string {
    return this.parsed.source.slice(position?.start.offset, position?.end.offset);
  }

  /** Notes what is lost of a block, for its entry in the report. */
  lose(node: Nodes, loss: string): void {
    this.#losses.set(node, [...(this.#losses.get(node) ?? []), loss]);
  }

  report(node: Nodes, block: ConvertedBlock): void {
    const { prompt, html, text, title, src } = block.props;
    const named = [prompt, html, text, title, src].find((value) => typeof value === 'string');
    const words = wordsOf(typeof named === 'string' ? named.slice(0, 2_000) : '');
    this.#job.report.add(
      { path: this.placeOf(node), kind: block.type, title: words },
      { block, losses: this.#losses.get(node) ?? [] },
    );
  }

  /** Renders blocks as HTML, with references to files. */
  html(nodes: readonly RootContent[], at: Nodes): string {
    for (const directive of directivesIn(nodes)) {
      this.fault(directive, `:::${directive.name} cannot be inside this text`);
    }
    return this.linked(renderBlocks(nodes, this.#context()), at);
  }

  inline(children: readonly PhrasingContent[], at: Nodes): string {
    return this.linked(renderInline(children, this.#context()), at);
  }

  /** Returns a reader of the attributes of a node. */
  attributesAt(node: Nodes): AttributeReader {
    return {
      toHtml: (text) => this.linked(inlineHtml(text), node),
      toMedia: (path) => this.media(path, node),
      fault: (text) => this.fault(node, text),
    };
  }

  /** Returns the reference to a file by its path from this file; other texts stay as they are. */
  media(path: string, at: Nodes): string {
    if (noPath.test(path)) return path;
    const [, written = '', fragment = ''] = /^([^?#]*)(?:\?[^#]*)?(#.*)?$/s.exec(path) ?? [];
    const target = posix.normalize(posix.join(posix.dirname(this.#path), decodePath(written)));
    const reference = this.#job.media.file(target);
    if (reference !== null) return `${reference}${fragment}`;
    this.fault(
      at,
      `${quote(path)} is not beside the text: put it into the folder or the ZIP that you import`,
    );
    return path;
  }

  #context(): RenderContext {
    return { source: this.parsed.source, definitions: this.#definitions };
  }

  /** Replaces the paths in HTML by references. */
  linked(html: string, at: Nodes): string {
    const replace = (url: string) => {
      const reference = this.media(url, at);
      return reference === url ? null : reference;
    };
    try {
      return replaceMediaUrls(html, replace, this.#elements);
    } catch (error) {
      if (!(error instanceof LecternError)) throw error;
      this.fault(at, error.message);
      return '';
    }
  }
}

/** Renders a text of one line, such as that of an attribute. */
export function inlineHtml(text: string): string {
  const { root, source } = parseMarkdown(text, 'attribute');
  const [only, ...others] = root.children;
  const context = { source, definitions: [] };
  if (only?.type === 'paragraph' && others.length === 0) return renderInline(only.children, context);
  return renderBlocks(root.children, context);
}

function definitionsIn(nodes: readonly RootContent[]): (Definition | FootnoteDefinition)[] {
  return allIn(nodes).filter((node) => node.type === 'definition' || node.type === 'footnoteDefinition');
}

function directivesIn(nodes: readonly RootContent[]): (ContainerDirective | LeafDirective)[] {
  return allIn(nodes).filter((node) => node.type === 'containerDirective' || node.type === 'leafDirective');
}

/** Returns nodes with all that is inside them, level by level. */
function allIn(nodes: readonly RootContent[]): RootContent[] {
  const found: RootContent[] = [];
  for (let level = [...nodes]; level.length > 0;) {
    found.push(...level);
    level = level.flatMap((node) => ('children' in node ? (node.children as RootContent[]) : []));
  }
  return found;
}
