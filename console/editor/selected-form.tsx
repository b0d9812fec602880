import type { JSX } from 'preact';
import { TextField } from '../kit/field.tsx';
import { t } from '../shell/text.ts';
import { BlockForm } from './forms/block-form.tsx';
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
  const { stepId } = selection;
  const { block } = node;
  return (
    <>
      <h2>{widgetName(block.type)}</h2>
      <BlockForm
        key={block.props.id}
        block={block}
        fields={store.fieldsOf(block.type)}
        findings={store.findings.value.filter(({ blockId }) => blockId === block.props.id)}
        language={typeof skeleton.lesson.language === 'string' ? skeleton.lesson.language : 'en'}
        onChange={(props, { path }) => changeProps(store, stepId, node, props, path)}
        onOpenBlock={(id) => store.select({ kind: 'block', stepId, id })}
      />
    </>
  );
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
