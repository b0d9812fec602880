import { isBlockTag, isMark } from './elements.ts';
import type { HtmlNode } from './html-tree.ts';
import { isElement, writeHtml } from './html-tree.ts';

/** White space that HTML shows as one space. */
export const collapsible = /[ \t\n\r\f]+/g;

interface Leaf {
  text: string;
  marks: string;
  kind: 'text' | 'node' | 'block';
}

/**
 * Returns what HTML means to its readers: texts with the formatting that they have, in any order, and all other elements
 * as they are. Texts with the same result look the same.
 */
export function meaningOf(nodes: readonly HtmlNode[]): string {
  const leaves: Leaf[] = [];
  collect(nodes, [], leaves);
  return JSON.stringify(joined(leaves).map(({ text, marks }) => [text, marks]));
}

function collect(nodes: readonly HtmlNode[], marks: readonly string[], leaves: Leaf[]): void {
  const names = [...new Set(marks)].sort().join();
  for (const node of nodes) {
    if (typeof node === 'string') leaves.push({ text: node, marks: names, kind: 'text' });
    else if (isElement(node) && isMark(node)) collect(node.children, [...marks, openTag(node)], leaves);
    else if (isElement(node) && isBlockTag(node.tag) && node.tag !== 'pre') {
      leaves.push({ text: openTag(node), marks: '', kind: 'block' });
      collect(node.children, [], leaves);
      leaves.push({ text: `</${node.tag}>`, marks: '', kind: 'block' });
    } else {
      const isBlock = isElement(node) && (node.tag === 'pre' || node.tag === 'br');
      leaves.push({ text: writeHtml([node]), marks: names, kind: isBlock ? 'block' : 'node' });
    }
  }
}

function openTag({ tag, attributes }: { tag: string; attributes: Readonly<Record<string, string>> }): string {
  const sorted = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
  return writeHtml([{ tag, attributes: Object.fromEntries(sorted), children: [] }]);
}

/** Joins texts with the same marks, with white space as browsers show it. */
function joined(leaves: readonly Leaf[]): Leaf[] {
  const result: Leaf[] = [];
  let isAfterSpace = true;
  for (const [index, leaf] of leaves.entries()) {
    if (leaf.kind !== 'text') {
      isAfterSpace = leaf.kind === 'block';
      result.push({ ...leaf });
      continue;
    }
    let text = leaf.text.replaceAll(collapsible, ' ');
    if (isAfterSpace) text = text.replace(/^ /, '');
    if (text === '') continue;
    isAfterSpace = text.endsWith(' ');
    const last = result.at(-1);
    if (last?.kind === 'text' && last.marks === leaf.marks) last.text += text;
    else result.push({ ...leaf, text });
    if (isAfterSpace && endsLine(leaves, index)) trimEnd(result);
  }
  return result;
}

/** Returns whether only white space follows in the line. */
function endsLine(leaves: readonly Leaf[], index: number): boolean {
  for (let next = index + 1; next < leaves.length; next += 1) {
    const leaf = leaves[next];
    if (leaf?.kind === 'block') return true;
    if (leaf?.kind === 'node' || leaf?.text.replaceAll(collapsible, '') !== '') return false;
  }
  return true;
}

function trimEnd(result: Leaf[]): void {
  const last = result.at(-1);
  if (last === undefined) return;
  last.text = last.text.replace(/ $/, '');
  if (last.text === '') result.pop();
}
