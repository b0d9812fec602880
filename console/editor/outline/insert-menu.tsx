import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import { recordOf } from '../../../shared/lessons/json-values.ts';
import { memberFields } from '../../../shared/lessons/widget-fields.ts';
import type { Fields } from '../../../shared/lessons/widget-fields.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { t } from '../../shell/text.ts';
import { newBlock } from '../forms/new-block.ts';
import { topList } from '../model/blocks.ts';
import { insertBlocks } from '../model/commands.ts';
import { placeOf } from '../model/edit-blocks.ts';
import type { BlockPlace } from '../model/edit-blocks.ts';
import type { EditorStore } from '../model/editor-store.ts';
import { widgetName } from './rows.ts';

const groups = ['content', 'layout', 'questions', 'custom'] as const;
type Group = (typeof groups)[number];

interface Choice {
  type: string;
  name: string;
  group: Group;
}

/** Returns the widgets that an author can insert, by group. */
function choicesOf(store: EditorStore): Choice[] {
  const published = recordOf(recordOf(store.skeleton.peek().lesson.widget_settings).fields);
  const core = Object.entries<Fields>(coreWidgetFields).map(([type, fields]): Choice => ({
    ...{ type, name: widgetName(type) },
    group: hasBlocks(fields) ? 'layout' : 'prompt' in fields ? 'questions' : 'content',
  }));
  const custom = Object.keys(published).map((type): Choice => ({ type, name: type, group: 'custom' }));
  return groups.flatMap((group) => [...core, ...custom].filter((choice) => choice.group === group));
}

function hasBlocks(fields: Fields): boolean {
  return Object.values(fields).some((field) => {
    const members = memberFields(field);
    return field.kind === 'blocks' || (members !== undefined && hasBlocks(members));
  });
}

/** Returns where a new block goes: after the selected block, or into what is selected. */
export function placeForNew(store: EditorStore): { stepId: string; place: BlockPlace } | null {
  const stepId = store.openStepId.peek();
  const content = store.openStep.peek();
  if (stepId === null || content === undefined) return null;
  const { selection } = store.document.peek();
  const { nodes, byId } = store.blocksOf(content);
  const top = { stepId, place: { list: topList, index: nodes.length } };
  if (selection.kind === 'slot') {
    const slots = [...byId.values()].flatMap((node) => node.slots);
    const slot = slots.find(({ path }) => JSON.stringify(path) === selection.id);
    return slot === undefined ? top : { stepId, place: { list: slot.path, index: slot.nodes.length } };
  }
  const node = selection.kind === 'block' ? byId.get(selection.id) : undefined;
  if (node === undefined) return top;
  const [only] = node.slots;
  if (only !== undefined && node.slots.length === 1 && only.nodes.length === 0)
    return { stepId, place: { list: only.path, index: 0 } };
  const { list, index } = placeOf(node);
  return { stepId, place: { list, index: index + 1 } };
}

/** A dialog that inserts a block: a list of widgets, which the author narrows by typing. */
export function InsertMenu({
  store,
  target,
  onClose,
  onInserted,
}: {
  store: EditorStore;
  target: { stepId: string; place: BlockPlace };
  onClose: () => void;
  onInserted: () => void;
}): JSX.Element {
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const wanted = text.trim().toLocaleLowerCase();
  const shown = choicesOf(store).filter(({ name, type }) =>
    [name, type].some((word) => word.toLocaleLowerCase().includes(wanted)),
  );
  const active = shown[Math.min(at, shown.length - 1)];
  const insert = ({ type }: Choice) => {
    insertBlocks(store, target.stepId, target.place, [newBlock(type, store.fieldsOf(type))]);
    onClose();
    onInserted();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (event.key === 'Enter' && active !== undefined) insert(active);
    else if (next !== undefined) setAt((next + shown.length) % Math.max(1, shown.length));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t('editor.insert.title')} onClose={onClose}>
      <input
        class="input"
        role="combobox"
        aria-label={t('editor.insert.search')}
        placeholder={t('editor.insert.search')}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={active && `${id}-${active.type}`}
        autoFocus
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ChoiceList id={id} shown={shown} active={active} onChoose={insert} />
      {shown.length === 0 && <p class="muted">{t('editor.insert.none')}</p>}
    </Dialog>
  );
}

function ChoiceList({
  id,
  shown,
  active,
  onChoose,
}: {
  id: string;
  shown: readonly Choice[];
  active: Choice | undefined;
  onChoose: (choice: Choice) => void;
}): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [active?.type]);
  return (
    <div ref={list} id={id} class="insert-list" role="listbox" aria-label={t('editor.insert.title')}>
      {groups.map((group) => {
        const members = shown.filter((choice) => choice.group === group);
        if (members.length === 0) return null;
        return (
          <div key={group} role="group" aria-labelledby={`${id}-group-${group}`}>
            <div id={`${id}-group-${group}`} class="group-name" role="presentation">
              {t(`editor.insert.${group}`)}
            </div>
            {members.map((choice) => (
              <div
                key={choice.type}
                id={`${id}-${choice.type}`}
                role="option"
                aria-selected={choice === active}
                onClick={() => onChoose(choice)}
              >
                {choice.name}
              </div>
            ))}
          </div>
        );
      })}
    </div>
  );
}
