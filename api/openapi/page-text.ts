import { escapeHtml } from '../http/html.ts';

/** The little of Markdown that the document's own texts use: headings, lists, paragraphs, `code` and **bold**. */
export function markdown(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => blockText(block.trim()))
    .join('');
}

/** The second-level headings of a text, in their order. */
export function headingsOf(text: string): string[] {
  return [...text.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
}

/** What a heading is linked by: "Getting started" as "getting-started". */
export function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/\W+/g, '-');
}

function blockText(block: string): string {
  const [, heading] = /^## (.+)$/.exec(block) ?? [];
  if (heading !== undefined) return `<h2 id="${anchorOf(heading)}">${inline(heading)}</h2>`;
  if (block.startsWith('- ')) return `<ul>${listItems(block, /^- /gm)}</ul>`;
  if (block.startsWith('1. ')) return `<ol>${listItems(block, /^\d+\. /gm)}</ol>`;
  return `<p>${inline(block)}</p>`;
}

function listItems(block: string, mark: RegExp): string {
  return block
    .split(mark)
    .slice(1)
    .map((item) => `<li>${inline(item.trim())}</li>`)
    .join('');
}

/** One line of it. */
export function inline(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}
