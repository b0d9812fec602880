import type { JSX } from 'preact';
import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import { recordOf } from '../../../shared/lessons/json-values.ts';
import { newBlock } from '../forms/new-block.ts';
import { insertBlocks } from '../model/commands.ts';
import type { EditorStore } from '../model/editor-store.ts';
import { widgetName } from '../outline/rows.ts';
import { Preview } from './preview.tsx';

/** The preview of the open step. */
export function StepPreview({ store }: { store: EditorStore }): JSX.Element | null {
  const stepId = store.openStepId.value;
  const content = store.openStep.value;
  if (stepId === null || content === undefined) return null;
  const { selection } = store.document.value;
  const { lesson } = store.skeleton.value;
  return (
    <Preview
      {...{ lessonId: store.lessonId, stepId, content, tree: store.blocksOf(content) }}
      language={typeof lesson.language === 'string' ? lesson.language : 'en'}
      overrides={recordOf(lesson.widget_settings).overrides}
      selectedId={selection.kind === 'block' && selection.stepId === stepId ? selection.id : null}
      onSelect={(id) =>
        store.select(id === null ? { kind: 'step', id: stepId } : { kind: 'block', stepId, id })
      }
      insertItems={(place) =>
        Object.keys(coreWidgetFields).map((type) => ({
          label: widgetName(type),
          onSelect: () => insertBlocks(store, stepId, place, [newBlock(type)]),
        }))
      }
      lesson={() => wholeLesson(store)}
    />
  );
}

/** Returns the lesson with the content of all steps, as in lesson.json. */
async function wholeLesson(store: EditorStore): Promise<unknown> {
  const { sections, ...skeleton } = store.skeleton.peek();
  const full = sections.map(async (section) => ({
    ...section,
    steps: await Promise.all(
      section.steps.map(async (step) => ({ ...step, content: await store.requireStep(step.id) })),
    ),
  }));
  return { ...skeleton, sections: await Promise.all(full) };
}
