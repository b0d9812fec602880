import type { Root, RootContent } from 'mdast';
import { directiveFromMarkdown } from 'mdast-util-directive';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { frontmatterFromMarkdown } from 'mdast-util-frontmatter';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { mathFromMarkdown } from 'mdast-util-math';
import { directive } from 'micromark-extension-directive';
import { frontmatter } from 'micromark-extension-frontmatter';
import { gfm } from 'micromark-extension-gfm';
import { math } from 'micromark-extension-math';
import { SourceFault } from '../source.ts';

/** A parsed Markdown text, with the source that positions refer to. */
export interface ParsedMarkdown {
  root: Root;
  source: string;
  /** Returns the line of the file, from a line of `source`. */
  lineOf(line: number): number;
}

// Directives inside a line would take the colons of "At 10:30".
const { flow } = directive();
const extensions = [gfm(), { ...(flow !== undefined && { flow }) }, math(), frontmatter()];
const mdastExtensions = [
  gfmFromMarkdown(),
  directiveFromMarkdown(),
  mathFromMarkdown(),
  frontmatterFromMarkdown(),
];

/** Deeper texts would overflow the stack of the code that walks them. */
const maxDepth = 100;

/**
 * Parses GitHub Flavored Markdown with formulas, directives (`:::name`) and front matter.
 *
 * @throws {SourceFault} for a text that is nested too deep
 */
export function parseMarkdown(text: string, name: string): ParsedMarkdown {
  if (/^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){100}/m.test(text)) throw tooDeep(name);
  const { source, lines } = withBlankLines(text);
  const root = fromMarkdown(source, { extensions, mdastExtensions });
  let level: RootContent[] = root.children;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) throw tooDeep(name);
    level = level.flatMap((node) => ('children' in node ? (node.children as RootContent[]) : []));
  }
  return { root, source, lineOf: (line) => lines[line - 1] ?? line };
}

function tooDeep(name: string): SourceFault {
  return new SourceFault(`${name}: is nested deeper than ${maxDepth} levels`);
}

const attributeLine = /^\{(?:[#.\w].*)?\}[ \t]*$/;

/**
 * Puts blank lines around lines of attributes. Otherwise they would continue the paragraph, the list or the quotation
 * before them.
 *
 * @returns the text, and the line of the file for each of its lines
 */
function withBlankLines(text: string): { source: string; lines: number[] } {
  const written: string[] = [];
  const lines: number[] = [];
  let fence: string | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const marker = /^ {0,3}(`{3,}|~{3,}|\$\$)/.exec(line)?.[1];
    if (fence === null) fence = marker ?? null;
    else if (marker !== undefined && marker.startsWith(fence) && /^[\s`~$]*$/.test(line)) fence = null;
    const isAttributes = fence === null && attributeLine.test(line);
    const around = isAttributes ? [''] : [];
    for (const one of [...around, line, ...around]) {
      written.push(one);
      lines.push(index + 1);
    }
  }
  return { source: written.join('\n'), lines };
}

/** Attributes such as `{#tides points=2 hint="Think."}`, by name; `id` is that after `#`. */
export type Attributes = Readonly<Record<string, string>>;

/** Parses attributes as directives have them; null for any other text. */
export function parseAttributes(text: string): Attributes | null {
  const written = text.trim();
  if (!written.startsWith('{') || !written.endsWith('}')) return null;
  const { children } = fromMarkdown(`::a${written.replaceAll(/\s*\n\s*/g, ' ')}`, {
    ...{ extensions, mdastExtensions },
  });
  const [node] = children;
  if (node?.type !== 'leafDirective' || children.length > 1) return null;
  return Object.fromEntries(Object.entries(node.attributes ?? {}).map(([key, value]) => [key, value ?? '']));
}

/** Divides a text at the attributes at its end: "Moonrise {#rise}". */
export function splitAttributes(text: string): { text: string; attributes: Attributes | null } {
  const start = attributesStart(text);
  if (start === null) return { text, attributes: null };
  const attributes = parseAttributes(text.slice(start));
  return attributes === null
    ? { text, attributes: null }
    : { text: text.slice(0, start).trimEnd(), attributes };
}

/** Returns where the attributes at the end of a text begin, outside of quotation marks; null without any. */
function attributesStart(text: string): number | null {
  const found = /(?<!\\)\{(?:[#.\w](?:[^{}"']|"[^"]*"|'[^']*')*)?\}\s*$/.exec(text);
  return found?.index ?? null;
}
