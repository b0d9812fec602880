import type { Element } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { toHtml } from 'hast-util-to-html';
import { toMdast } from 'hast-util-to-mdast';
import type { Handle } from 'hast-util-to-mdast';
import type { Nodes, PhrasingContent, Root, Text } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { mathToMarkdown } from 'mdast-util-math';
import { toMarkdown } from 'mdast-util-to-markdown';

/** Elements in a line that Markdown does not have. They stay HTML. */
const inlineTags = 'abbr bdi bdo cite dfn ins kbd mark q rp rt ruby s samp small span sub sup u var'.split(
  ' ',
);

const asHtml: Handle = (state, node: Element) => [
  { type: 'html', value: toHtml({ ...node, children: [] }).replace(/<\/[^>]*>$/, '') },
  ...(state.all(node) as PhrasingContent[]),
  { type: 'html', value: `</${node.tagName}>` },
];

const handlers = Object.fromEntries(inlineTags.map((name) => [name, asHtml]));

/** Returns HTML as Markdown, which may render to other HTML: compare it. */
export function htmlToMarkdown(html: string): string {
  const tree = toMdast(fromHtml(html, { fragment: true }), { handlers });
  const root: Root = tree.type === 'root' ? tree : { type: 'root', children: [] };
  return writeMarkdownTree(withFormulas(root));
}

/** Writes a tree as Markdown, without the line break at its end. */
export function writeMarkdownTree(root: Root): string {
  return toMarkdown(root, {
    ...{ bullet: '-', rule: '-', emphasis: '*', fences: true, listItemIndent: 'one' },
    extensions: [gfmToMarkdown(), mathToMarkdown()],
  }).trimEnd();
}

/** Returns a plain text as Markdown in a line. */
export function escapeMarkdown(text: string): string {
  const paragraph = { type: 'paragraph', children: [{ type: 'text', value: text }] } as const;
  return writeMarkdownTree(
    withFormulas({ type: 'root', children: [{ ...paragraph, children: [...paragraph.children] }] }),
  );
}

/** Formulas in texts would lose their dollar signs. */
function withFormulas<T extends Nodes>(node: T): T {
  if (!('children' in node)) return node;
  const children = node.children.flatMap((child): Nodes[] =>
    child.type === 'text' ? formulasIn(child) : [withFormulas(child)],
  );
  return { ...node, children };
}

function formulasIn({ value }: Text): PhrasingContent[] {
  return value
    .split(/(\$[^$\n]+\$)/)
    .filter((part) => part !== '')
    .map((part) =>
      /^\$[^$\n]+\$$/.test(part)
        ? { type: 'inlineMath', value: part.slice(1, -1) }
        : { type: 'text', value: part },
    );
}
