import { baseKeymap } from 'prosemirror-commands';
import { keymap } from 'prosemirror-keymap';
import type { Node } from 'prosemirror-model';
import { EditorState, NodeSelection, Selection } from 'prosemirror-state';
import type { Command } from 'prosemirror-state';
import { tableEditing } from 'prosemirror-tables';
import { EditorView } from 'prosemirror-view';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { textDirection } from '../../../../shared/i18n/message.ts';
import { showFormula } from '../formula.tsx';
import { clipboardParser, clipboardSerializer, pastedHtml } from './clipboard.ts';
import { keys } from './commands.ts';
import type { Formula } from './dialogs.tsx';
import { parseInBrowser } from './html-tree.ts';
import { openHtml } from './open-html.ts';
import { schema } from './schema.ts';
import type { Asked } from './toolbar.tsx';
import { writeDocument } from './write-html.ts';

const { nodes } = schema;

export interface RichTextProps {
  label: string;
  /** Whether the label is only for screen readers, as in a list of choices. */
  hidesLabel?: boolean;
  help?: string | undefined;
  error?: string | undefined;
  /** HTML, as stored. */
  value: string;
  /** The language of the lesson. */
  language: string;
  onChange: (html: string) => void;
  /** In a list of short texts: what Enter does instead of a new paragraph. */
  onEnter?: () => void;
  /** What Backspace does in an empty text. */
  onRemove?: () => void;
  /** More keys, by what they do. */
  keys?: Record<string, () => void>;
  /** Gets the view while there is one, for commands of the form. */
  onView?: (view: EditorView | null) => void;
}

export interface ViewProps extends RichTextProps {
  /** The id of the label. */
  id: string;
  described: string | undefined;
  onSource: () => void;
}

/** A text that is edited. */
interface TextView {
  /** Where the view is shown. */
  holder: RefObject<HTMLDivElement | null>;
  state: EditorState | undefined;
  /** Runs a command, and returns to the text. */
  run: (command: Command) => void;
  /** What a dialog asks for. */
  asked: Asked | undefined;
  ask: (asked: Asked | undefined) => void;
}

/** Shows a text in ProseMirror's view while the component is there, and reports changes. */
export function useView(props: ViewProps): TextView {
  const { value, onSource, onView } = props;
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef(props);
  latest.current = props;
  const opened = useRef<{ html: string; doc: Node }>(null);
  // The last text that this view has made, or got: another one is from undo, or from another author.
  const last = useRef(value);
  const [state, setState] = useState<EditorState>();
  const [asked, setAsked] = useState<Asked>();
  const changed = (doc: Node) => {
    const stored = opened.current?.doc.eq(doc) ? opened.current.html : undefined;
    const written = stored ?? writeDocument(doc);
    if (written === last.current) return;
    last.current = written;
    latest.current.onChange(written);
  };

  // At once, so that a new row of a list can get the focus.
  useLayoutEffect(() => {
    if (holder.current === null) return undefined;
    const first = stateOf(value, ownKeys(latest), setAsked);
    opened.current = { html: value, doc: first.doc };
    const made = new EditorView(holder.current, {
      ...viewOptions(latest.current, first),
      handleDoubleClickOn: (_view, _position, node) => openNode(node, setAsked),
      dispatchTransaction(transaction) {
        const next = made.state.apply(transaction);
        made.updateState(next);
        setState(next);
        if (transaction.docChanged && !transaction.getMeta(isFromOutside)) changed(next.doc);
      },
    });
    view.current = made;
    setState(made.state);
    onView?.(made);
    return () => {
      onView?.(null);
      made.destroy();
    };
  }, []);

  // Before the next key: a later effect would take an older value for a change from outside.
  useLayoutEffect(() => {
    const made = view.current;
    if (made === null || value === last.current) return;
    const doc = openHtml(value, parseInBrowser);
    if (doc === null) {
      onSource();
      return;
    }
    opened.current = { html: value, doc };
    last.current = value;
    made.dispatch(replaceDocument(made.state, doc));
  }, [value]);

  const run = (command: Command) => {
    const made = view.current;
    if (made === null) return;
    command(made.state, made.dispatch, made);
    made.focus();
  };
  const ask = (what: Asked | undefined) => {
    setAsked(what);
    // A dialog keeps the focus until it is gone.
    if (what === undefined) requestAnimationFrame(() => view.current?.focus());
  };
  return { holder, state, run, asked, ask };
}

const isFromOutside = 'from outside';

function replaceDocument({ tr, doc: { content }, selection }: EditorState, doc: Node) {
  tr.replaceWith(0, content.size, doc.content).setMeta(isFromOutside, true);
  return tr.setSelection(Selection.near(tr.doc.resolve(Math.min(selection.head, tr.doc.content.size))));
}

function viewOptions({ id, described, language }: ViewProps, state: EditorState) {
  return {
    state,
    attributes: {
      ...{ role: 'textbox', 'aria-multiline': 'true', 'aria-labelledby': id, class: 'rich-text' },
      ...(described !== undefined && { 'aria-describedby': described }),
      ...{ lang: language, dir: textDirection(language) },
    },
    nodeViews: { formula: formulaView },
    ...{ clipboardParser, clipboardSerializer, transformPastedHTML: pastedHtml },
    handleDOMEvents: {
      // The editor has one history for the whole lesson.
      beforeinput: (_view: EditorView, event: InputEvent) => {
        if (!event.inputType.startsWith('history')) return false;
        event.preventDefault();
        return true;
      },
    },
  };
}

/** Opens a formula or a picture. */
function openNode({ type }: Node, ask: (asked: Asked) => void): boolean {
  const asked = type === nodes.formula ? 'formula' : type === nodes.image ? 'picture' : undefined;
  if (asked !== undefined) ask(asked);
  return asked !== undefined;
}

function stateOf(html: string, own: Record<string, Command>, ask: (asked: Asked) => void): EditorState {
  const asking =
    (asked: Asked): Command =>
    () => {
      ask(asked);
      return true;
    };
  const openSelected: Command = ({ selection }) =>
    selection instanceof NodeSelection && openNode(selection.node, ask);
  return EditorState.create({
    doc: openHtml(html, parseInBrowser) ?? schema.node('doc', null, [nodes.plain.create()]),
    plugins: [
      keymap({ Enter: openSelected }),
      keymap(own),
      keymap({ ...keys, 'Mod-k': asking('link'), 'Mod-m': asking('formula') }),
      keymap(baseKeymap),
      tableEditing(),
    ],
  });
}

/** The keys of the field, and those of a text in a list of short texts. */
function ownKeys(latest: { current: RichTextProps }): Record<string, Command> {
  const more = Object.keys(latest.current.keys ?? {}).map((name): [string, Command] => [
    name,
    () => {
      latest.current.keys?.[name]?.();
      return true;
    },
  ]);
  return {
    ...Object.fromEntries(more),
    Enter: ({ selection: { $from } }) => {
      const { onEnter } = latest.current;
      if (onEnter === undefined || $from.depth > 1 || $from.parent.type === nodes.code_block) return false;
      onEnter();
      return true;
    },
    Backspace: ({ doc }) => {
      const { onRemove } = latest.current;
      if (onRemove === undefined || writeDocument(doc) !== '') return false;
      onRemove();
      return true;
    },
  };
}

function formulaView(node: Node) {
  const dom = document.createElement('span');
  dom.className = 'rich-formula';
  const { tex, display } = node.attrs as Formula;
  dom.textContent = tex === '' ? '∑' : tex;
  if (tex !== '') void showFormula(dom, tex, display);
  return { dom };
}
