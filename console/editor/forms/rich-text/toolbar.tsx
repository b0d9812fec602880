import { toggleMark } from 'prosemirror-commands';
import type { MarkType } from 'prosemirror-model';
import type { Command, EditorState } from 'prosemirror-state';
import {
  addColumnAfter,
  addRowAfter,
  deleteColumn,
  deleteRow,
  deleteTable,
  isInTable,
  toggleHeaderColumn,
  toggleHeaderRow,
} from 'prosemirror-tables';
import type { JSX } from 'preact';
import { Menu } from '../../../kit/menu.tsx';
import { t } from '../../../shell/text.ts';
import type { BlockKind } from './commands.ts';
import {
  blockKindAt,
  hasMark,
  insertTable,
  isInside,
  setBlockKind,
  toggleList,
  toggleQuote,
} from './commands.ts';
import { schema } from './schema.ts';

const { nodes, marks } = schema;

/** What the toolbar opens in a dialog. */
export type Asked = 'link' | 'formula' | 'picture';

interface ToolbarProps {
  state: EditorState;
  label: string;
  run: (command: Command) => void;
  onAsk: (asked: Asked) => void;
  onSource: () => void;
}

const tablePath = 'M4 5h16v14H4zM4 9.5h16M4 14h16M12 9.5V19';

const isMac = /Mac|iP(?:hone|ad)/.test(navigator.userAgent);

/** Returns a label with its keys. */
function withKeys(label: string, keys: string): string {
  return `${label} (${keys.replace('Mod', isMac ? '⌘' : 'Ctrl').replaceAll('-', '+')})`;
}

/** The formatting of a text. Arrow keys move between the buttons. */
export function Toolbar({ state, label, run, onAsk, onSource }: ToolbarProps): JSX.Element {
  const kind = blockKindAt(state);
  const mark = (type: MarkType, name: string, sign: JSX.Element | string, keys: string) => (
    <Tool label={withKeys(name, keys)} isOn={hasMark(state, type)} onPress={() => run(toggleMark(type))}>
      {sign}
    </Tool>
  );
  return (
    <div class="rich-toolbar" role="toolbar" aria-label={label} onKeyDown={moveFocus}>
      <select
        aria-label={t('editor.form.style')}
        value={kind === undefined ? '' : String(kind)}
        onChange={({ currentTarget: { value } }) => run(setBlockKind((Number(value) || value) as BlockKind))}
      >
        {kind === undefined && <option value="" />}
        <option value="text">{t('editor.form.paragraph')}</option>
        {[1, 2, 3, 4, 5, 6].map((level) => (
          <option key={level} value={String(level)}>
            {t('editor.form.heading', { level: String(level) })}
          </option>
        ))}
        <option value="code">{t('editor.form.code_block')}</option>
      </select>
      {mark(marks.strong, t('editor.form.bold'), <b>B</b>, 'Mod-B')}
      {mark(marks.em, t('editor.form.italic'), <i>I</i>, 'Mod-I')}
      {mark(marks.code, t('editor.form.code'), '</>', 'Mod-E')}
      {mark(marks.subscript, t('editor.form.subscript'), <span>x₂</span>, 'Mod-,')}
      {mark(marks.superscript, t('editor.form.superscript'), <span>x²</span>, 'Mod-.')}
      <Tool
        label={withKeys(t('editor.form.bullets'), 'Mod-Shift-8')}
        isOn={isInside(state, nodes.bullet_list)}
        onPress={() => run(toggleList(nodes.bullet_list))}
      >
        •
      </Tool>
      <Tool
        label={withKeys(t('editor.form.numbers'), 'Mod-Shift-7')}
        isOn={isInside(state, nodes.ordered_list)}
        onPress={() => run(toggleList(nodes.ordered_list))}
      >
        1.
      </Tool>
      <Tool
        label={withKeys(t('editor.form.quote'), 'Mod-Shift-9')}
        isOn={isInside(state, nodes.blockquote)}
        onPress={() => run(toggleQuote)}
      >
        ❝
      </Tool>
      <Tool
        label={withKeys(t('editor.form.link'), 'Mod-K')}
        isOn={hasMark(state, marks.link)}
        onPress={() => onAsk('link')}
      >
        <ToolIcon path="M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 5.7 5.7L12 17" />
      </Tool>
      <Tool label={withKeys(t('editor.form.formula'), 'Mod-M')} onPress={() => onAsk('formula')}>
        ∑
      </Tool>
      <Tool label={t('editor.form.picture')} onPress={() => onAsk('picture')}>
        <ToolIcon path="M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9v.01" />
      </Tool>
      {isInTable(state) ? (
        <Menu label={t('editor.form.table')} buttonClass="tool is-on" items={tableItems(run)}>
          <ToolIcon path={tablePath} />
        </Menu>
      ) : (
        <Tool label={t('editor.form.insert_table')} onPress={() => run(insertTable)}>
          <ToolIcon path={tablePath} />
        </Tool>
      )}
      <Tool label={t('editor.form.as_html')} onPress={onSource}>
        HTML
      </Tool>
    </div>
  );
}

function tableItems(run: ToolbarProps['run']) {
  const item = (label: string, command: Command, isDanger = false) => ({
    label,
    isDanger,
    onSelect: () => run(command),
  });
  return [
    item(t('editor.form.add_row'), addRowAfter),
    item(t('editor.form.add_column'), addColumnAfter),
    item(t('editor.form.header_row'), toggleHeaderRow),
    item(t('editor.form.header_column'), toggleHeaderColumn),
    null,
    item(t('editor.form.delete_row'), deleteRow, true),
    item(t('editor.form.delete_column'), deleteColumn, true),
    item(t('editor.form.delete_table'), deleteTable, true),
  ];
}

function ToolIcon({ path }: { path: string }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

function Tool({
  label,
  isOn,
  onPress,
  children,
}: {
  label: string;
  isOn?: boolean;
  onPress: () => void;
  children: JSX.Element | string;
}): JSX.Element {
  return (
    <button
      type="button"
      class={`tool${isOn ? ' is-on' : ''}`}
      title={label}
      aria-label={label}
      aria-pressed={isOn}
      // The text keeps its selection.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onPress}
    >
      {children}
    </button>
  );
}

function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined || !(event.target instanceof HTMLButtonElement)) return;
  if (event.target.closest('[popover]') !== null) return;
  const tools = [...event.currentTarget.querySelectorAll<HTMLElement>(':scope > select, :scope > button')];
  const forward = getComputedStyle(event.currentTarget).direction === 'rtl' ? -step : step;
  const next = tools[(tools.indexOf(event.target) + forward + tools.length) % tools.length];
  event.preventDefault();
  next?.focus();
}
