import { Schema } from 'prosemirror-model';
import type { DOMOutputSpec, MarkSpec, NodeSpec } from 'prosemirror-model';
import type { Attributes } from './html-tree.ts';

/**
 * The HTML that authors edit as text. Every element keeps its attributes in `attributes`, and none of them reaches the
 * page: a class, a style or an address of a lesson has no effect in the editor. What the schema has no node for is in
 * `html` and `html_inline`, which show the name of the element only.
 */

const attributes = { default: {} as Attributes };

const block = (tag: string, more: NodeSpec = {}): NodeSpec => ({
  group: 'block',
  content: 'inline*',
  attrs: { attributes },
  toDOM: () => [tag, 0],
  ...more,
});

/** `plain` is text that has no paragraph, as in most choices and cells. `container` keeps its tag. */
const nodes = {
  doc: { content: '(paragraph | block)+' },
  plain: { group: 'block', content: 'inline*', toDOM: () => ['p', { class: 'is-plain' }, 0] },
  paragraph: block('p'),
  heading: block('h2', {
    attrs: { attributes, level: { default: 2 } },
    defining: true,
    toDOM: ({ attrs }) => [`h${attrs.level as number}`, 0],
  }),
  blockquote: block('blockquote', { content: 'block+', defining: true }),
  code_block: block('pre', {
    content: 'text*',
    marks: '',
    code: true,
    defining: true,
    // The attributes of `code` in `pre`; null without this element.
    attrs: { attributes, code: { default: null as Attributes | null } },
    toDOM: () => ['pre', ['code', 0]],
  }),
  horizontal_rule: block('hr', { content: '', toDOM: () => ['hr'] }),
  bullet_list: block('ul', { content: 'list_item+' }),
  ordered_list: block('ol', { content: 'list_item+' }),
  list_item: { content: 'block+', attrs: { attributes }, defining: true, toDOM: () => ['li', 0] },
  container: block('div', {
    content: 'block+',
    attrs: { attributes, tag: { default: 'div' } },
    toDOM: ({ attrs }) => ['div', { class: 'rich-container', 'data-tag': attrs.tag as string }, 0],
  }),
  table: block('table', {
    content: 'table_row+',
    tableRole: 'table',
    isolating: true,
    // HTML before the rows: the caption and the groups of columns.
    attrs: { attributes, head: { default: '' } },
    toDOM: () => ['table', ['tbody', 0]],
  }),
  // `section` is `thead`, `tbody` or `tfoot`, and a number that tells apart two of them; null for a new row.
  table_row: {
    content: '(table_cell | table_header)*',
    tableRole: 'row',
    attrs: { attributes, section: { default: null }, sectionAttributes: attributes },
    toDOM: () => ['tr', 0],
  },
  table_cell: cell('td', 'cell'),
  table_header: cell('th', 'header_cell'),
  html: atom({ group: 'block' }, 'div'),
  html_inline: atom({ group: 'inline', inline: true }, 'span'),
  text: { group: 'inline' },
  image: {
    ...{ group: 'inline', inline: true, draggable: true },
    attrs: { attributes },
    toDOM: ({ attrs }) => {
      const { src = '', alt } = attrs.attributes as Attributes;
      return ['span', { class: 'rich-image', title: src }, alt ?? src];
    },
  },
  hard_break: {
    ...{ group: 'inline', inline: true, selectable: false },
    attrs: { attributes },
    linebreakReplacement: true,
    toDOM: () => ['br'],
  },
  // `html` is the MathML of an import; empty for TeX, which the import converts.
  formula: {
    ...{ group: 'inline', inline: true },
    attrs: { tex: { default: '' }, display: { default: false }, html: { default: '' } },
    toDOM: ({ attrs }) => ['span', { class: 'rich-formula' }, attrs.tex as string],
  },
} satisfies Record<string, NodeSpec>;

function cell(tag: string, tableRole: string): NodeSpec {
  return {
    content: 'block+',
    tableRole,
    isolating: true,
    attrs: { attributes, colspan: { default: 1 }, rowspan: { default: 1 }, colwidth: { default: null } },
    toDOM: ({ attrs }): DOMOutputSpec => [
      tag,
      { colspan: String(attrs.colspan), rowspan: String(attrs.rowspan) },
      0,
    ],
  };
}

function atom(more: NodeSpec, tag: string): NodeSpec {
  return {
    ...more,
    atom: true,
    attrs: { html: {}, label: {} },
    toDOM: ({ attrs }) => [tag, { class: 'rich-unknown', contenteditable: 'false' }, attrs.label as string],
  };
}

const mark = (tag: string, more: MarkSpec = {}): MarkSpec => ({
  attrs: { attributes, tag: { default: tag } },
  toDOM: () => [tag, 0],
  ...more,
});

const marks = {
  link: mark('a', {
    inclusive: false,
    toDOM: ({ attrs }) => [
      'span',
      { class: 'rich-link', title: (attrs.attributes as Attributes).href ?? '' },
      0,
    ],
  }),
  inline: mark('span', {
    excludes: '',
    toDOM: ({ attrs }) => ['span', { class: 'rich-inline', 'data-tag': attrs.tag as string }, 0],
  }),
  strong: mark('strong'),
  em: mark('em'),
  underline: mark('u'),
  strike: mark('s'),
  subscript: mark('sub'),
  superscript: mark('sup'),
  code: mark('code'),
} satisfies Record<string, MarkSpec>;

export const schema = new Schema({ nodes, marks });
