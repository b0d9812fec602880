import {
  chainCommands,
  exitCode,
  lift,
  setBlockType,
  splitBlock,
  toggleMark,
  wrapIn,
} from 'prosemirror-commands';
import type { MarkType, Node, NodeType } from 'prosemirror-model';
import { liftListItem, sinkListItem, splitListItem, wrapInList } from 'prosemirror-schema-list';
import { TextSelection } from 'prosemirror-state';
import type { Command, EditorState } from 'prosemirror-state';
import { goToNextCell, isInTable } from 'prosemirror-tables';
import { schema } from './schema.ts';

const { nodes, marks } = schema;

/** What a line of text can be; numbers are levels of headings. */
export type BlockKind = 'text' | 'code' | number;

/** Returns what the line with the cursor is; undefined for anything else. */
export function blockKindAt({ selection }: EditorState): BlockKind | undefined {
  const { parent } = selection.$from;
  if (parent.type === nodes.heading) return parent.attrs.level as number;
  if (parent.type === nodes.code_block) return 'code';
  return parent.type === nodes.plain || parent.type === nodes.paragraph ? 'text' : undefined;
}

/** Makes the selected lines headings, code or text. */
export function setBlockKind(kind: BlockKind): Command {
  if (kind === 'text') return setBlockType(nodes.paragraph);
  if (kind === 'code') return setBlockType(nodes.code_block, { code: {} });
  return setBlockType(nodes.heading, { level: kind });
}

/** Returns whether the selection has a mark, in all of it or at the cursor. */
export function hasMark({ selection, storedMarks, doc }: EditorState, type: MarkType): boolean {
  if (selection.empty) return type.isInSet(storedMarks ?? selection.$from.marks()) !== undefined;
  return doc.rangeHasMark(selection.from, selection.to, type);
}

export function isInside({ selection: { $from } }: EditorState, type: NodeType): boolean {
  return Array.from({ length: $from.depth + 1 }, (_, depth) => $from.node(depth)).some(
    (node) => node.type === type,
  );
}

/** Makes a list of the selected lines, or text of a list of this kind. */
export function toggleList(type: NodeType): Command {
  return (state, dispatch, view) => {
    const { $from } = state.selection;
    const list = $from.depth >= 2 ? $from.node(-2) : null;
    if (list?.type === type) return liftListItem(nodes.list_item)(state, dispatch, view);
    if (list !== null && (list.type === nodes.bullet_list || list.type === nodes.ordered_list)) {
      dispatch?.(state.tr.setNodeMarkup($from.before(-2), type));
      return true;
    }
    // In items of lists, lines need no paragraphs.
    const { tr } = state;
    const { from, to } = state.selection;
    tr.setBlockType(from, to, nodes.plain);
    return wrapInList(type)(
      state.apply(tr),
      dispatch &&
        ((wrapping) => {
          for (const step of wrapping.steps) tr.step(step);
          dispatch(tr.scrollIntoView());
        }),
    );
  };
}

export const toggleQuote: Command = (state, dispatch, view) =>
  isInside(state, nodes.blockquote)
    ? lift(state, dispatch, view)
    : wrapIn(nodes.blockquote)(state, dispatch, view);

/** At Enter, text without a paragraph becomes two paragraphs. */
const splitPlain: Command = (state, dispatch) => {
  const { $from, $to } = state.selection;
  if ($from.parent.type !== nodes.plain || !$from.sameParent($to)) return false;
  // An empty line leaves its list or quotation.
  if ($from.parent.content.size === 0 && $from.depth > 1) return false;
  const tr = state.tr.setNodeMarkup($from.before(), nodes.paragraph);
  return splitBlock(
    state.apply(tr),
    dispatch &&
      ((splitting) => {
        for (const step of splitting.steps) tr.step(step);
        dispatch(tr.scrollIntoView());
      }),
  );
};

const breakLine: Command = chainCommands(exitCode, (state, dispatch) => {
  dispatch?.(state.tr.replaceSelectionWith(nodes.hard_break.create()).scrollIntoView());
  return true;
});

/** Inserts an inline node, and selects what follows. */
export function insertInline(node: Node): Command {
  return (state, dispatch) => {
    dispatch?.(state.tr.replaceSelectionWith(node).scrollIntoView());
    return true;
  };
}

/** Inserts a table with a row of headers. */
export const insertTable: Command = (state, dispatch) => {
  const cells = (type: NodeType, count: number, attributes = {}) =>
    Array.from({ length: count }, () => type.create({ attributes }, nodes.plain.create()));
  const headers = cells(nodes.table_header, 3, { scope: 'col' });
  const table = nodes.table.create(null, [
    nodes.table_row.create({ section: 'thead 0' }, headers),
    ...[1, 2].map(() => nodes.table_row.create({ section: 'tbody 1' }, cells(nodes.table_cell, 3))),
  ]);
  const tr = state.tr.replaceSelectionWith(table);
  const start = tr.mapping.map(state.selection.from, -1);
  dispatch?.(
    tr
      .setSelection(TextSelection.near(tr.doc.resolve(Math.min(start + 4, tr.doc.content.size))))
      .scrollIntoView(),
  );
  return true;
};

/** Makes the selected text a link, or changes the link at the cursor; without an address, removes it. */
export function setLink(href: string): Command {
  return (state, dispatch) => {
    const { from, to } = linkRange(state) ?? state.selection;
    const tr = state.tr.removeMark(from, to, marks.link);
    const mark = marks.link.create({ attributes: { ...linkAt(state), href } });
    if (href !== '' && from === to) tr.insert(from, schema.text(href, [mark]));
    else if (href !== '') tr.addMark(from, to, mark);
    dispatch?.(tr.scrollIntoView());
    return true;
  };
}

/** Returns the attributes of the link at the cursor; undefined without one. */
export function linkAt({ selection, doc }: EditorState): Record<string, string> | undefined {
  const found =
    marks.link.isInSet(selection.$from.marks()) ??
    marks.link.isInSet(doc.nodeAt(selection.from)?.marks ?? []);
  return found?.attrs.attributes as Record<string, string> | undefined;
}

/** Returns where the link at the cursor begins and ends; undefined for a selection of text. */
function linkRange(state: EditorState): { from: number; to: number } | undefined {
  const { $from, empty } = state.selection;
  if (!empty || linkAt(state) === undefined) return undefined;
  const { parent } = $from;
  const at =
    parent.childAfter($from.parentOffset).node === null
      ? parent.childBefore($from.parentOffset)
      : parent.childAfter($from.parentOffset);
  const mark = marks.link.isInSet(at.node?.marks ?? []);
  if (mark === undefined) return undefined;
  let [first, last] = [at.index, at.index];
  while (first > 0 && mark.isInSet(parent.child(first - 1).marks)) first -= 1;
  while (last + 1 < parent.childCount && mark.isInSet(parent.child(last + 1).marks)) last += 1;
  let from = $from.start();
  for (let index = 0; index < first; index += 1) from += parent.child(index).nodeSize;
  let to = from;
  for (let index = first; index <= last; index += 1) to += parent.child(index).nodeSize;
  return { from, to };
}

/** Keys of the editor besides those that every text has. `Mod` is Ctrl, or Command. */
export const keys: Record<string, Command> = {
  Enter: chainCommands(splitListItem(nodes.list_item), splitPlain),
  'Shift-Enter': breakLine,
  'Mod-b': toggleMark(marks.strong),
  'Mod-i': toggleMark(marks.em),
  'Mod-u': toggleMark(marks.underline),
  'Mod-e': toggleMark(marks.code),
  'Mod-,': toggleMark(marks.subscript),
  'Mod-.': toggleMark(marks.superscript),
  'Mod-Shift-7': toggleList(nodes.ordered_list),
  'Mod-Shift-8': toggleList(nodes.bullet_list),
  'Mod-Shift-9': toggleQuote,
  'Mod-Alt-0': setBlockKind('text'),
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`Mod-Alt-${level}`, setBlockKind(level)])),
  'Mod-]': sinkListItem(nodes.list_item),
  'Mod-[': liftListItem(nodes.list_item),
  // Elsewhere, Tab leaves the field.
  Tab: (state, dispatch) => isInTable(state) && goToNextCell(1)(state, dispatch),
  'Shift-Tab': (state, dispatch) => isInTable(state) && goToNextCell(-1)(state, dispatch),
};
