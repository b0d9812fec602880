import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Field, TextField } from '../kit/field.tsx';
import { t } from '../shell/text.ts';
import type { BlockNode } from './model/blocks.ts';
import { changeLesson, changeMembers, changeProps } from './model/commands.ts';
import { sectionById, stepById } from './model/edit-outline.ts';
import type { EditorStore } from './model/editor-store.ts';
import { widgetName } from './outline/rows.ts';

/** The form of what is selected. */
export function SelectedForm({ store }: { store: EditorStore }): JSX.Element | null {
  const { selection } = store.document.value;
  const skeleton = store.skeleton.value;
  if (selection.kind === 'lesson')
    return (
      <TitleForm
        label={t('editor.form.lesson')}
        title={skeleton.lesson.title}
        onChange={(title) => changeLesson(store, { title })}
      />
    );
  if (selection.kind === 'section' || selection.kind === 'step') {
    const find = selection.kind === 'section' ? sectionById : stepById;
    return (
      <TitleForm
        label={t(`editor.form.${selection.kind}`)}
        title={find(skeleton, selection.id)?.title ?? ''}
        onChange={(title) => changeMembers(store, selection, { title })}
      />
    );
  }
  const content = store.openStep.value;
  const node = content && store.blocksOf(content).byId.get(selection.id);
  if (node === undefined) return null;
  return <JsonForm key={selection.id} store={store} stepId={selection.stepId} node={node} />;
}

function TitleForm({
  label,
  title,
  onChange,
}: {
  label: string;
  title: string;
  onChange: (title: string) => void;
}): JSX.Element {
  return (
    <>
      <h2>{label}</h2>
      <TextField label={t('editor.form.name')} value={title} onInput={onChange} maxLength={300} />
    </>
  );
}

/** The props of a block as JSON. */
function JsonForm({
  store,
  stepId,
  node,
}: {
  store: EditorStore;
  stepId: string;
  node: BlockNode;
}): JSX.Element {
  const { type, props } = node.block;
  const { id, ...others } = props;
  const [typed, setTyped] = useState<string>();
  const change = (text: string) => {
    setTyped(text);
    const parsed = parseObject(text);
    if (parsed !== undefined) changeProps(store, stepId, node, { ...parsed, id }, []);
  };
  const isWrong = typed !== undefined && parseObject(typed) === undefined;
  return (
    <>
      <h2>{widgetName(type)}</h2>
      <Field label={t('editor.form.json')} error={isWrong ? t('editor.form.json_fault') : undefined}>
        {(control) => (
          <textarea
            {...control}
            class="input is-code"
            rows={16}
            spellcheck={false}
            value={isWrong ? typed : JSON.stringify(others, null, 2)}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        )}
      </Field>
    </>
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
