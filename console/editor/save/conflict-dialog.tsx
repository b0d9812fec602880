import 'messages:page/changes';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Time } from '../../kit/time.tsx';
import { comparedWords } from '../../pages/lesson-changes/words.ts';
import { t } from '../../shell/text.ts';
import type { Block, StepContent } from '../model/blocks.ts';
import { placeOfStep, stepById, withStep } from '../model/edit-outline.ts';
import type { EditorStore } from '../model/editor-store.ts';
import { stepKey } from '../model/lesson-document.ts';
import type { Skeleton } from '../model/lesson-document.ts';
import { mergeSkeletons } from '../model/merge-skeletons.ts';
import { widgetName } from '../outline/rows.ts';
import type { Conflict, Saver } from './saver.ts';

/** Shows what two authors have made of the same part, and lets one of them choose. Undo brings the other side back. */
export function ConflictDialog({
  store,
  saver,
  onClose,
}: {
  store: EditorStore;
  saver: Saver;
  onClose: () => void;
}): JSX.Element {
  const [conflict] = saver.conflicts.value;
  useEffect(() => {
    if (conflict === undefined) onClose();
  }, [conflict]);
  if (conflict === undefined) return <></>;
  const { key, theirs, savedAt } = conflict;
  const mine = store.document.value.parts.get(key);
  const stepId = key.slice('step:'.length);
  const title = stepById(store.skeleton.value, stepId)?.title;
  const choose = (run: () => void) => {
    run();
    saver.settle(conflict);
  };
  return (
    <Dialog
      title={
        key === 'skeleton'
          ? t('editor.save.conflict_outline')
          : t('editor.save.conflict_step', { title: title ?? '' })
      }
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onPress={() => choose(() => store.edit([[key, theirs]]))}>{t('editor.save.theirs')}</Button>
          <Button onPress={() => choose(() => keepBoth(store, conflict, title ?? ''))}>
            {t('editor.save.both')}
          </Button>
          <Button kind="primary" onPress={() => choose(() => undefined)}>
            {t('editor.save.mine')}
          </Button>
        </>
      }
    >
      <p class="muted">
        {t('editor.save.other_saved')} <Time at={savedAt} />
      </p>
      <ul class="changes">
        {differences(key === 'skeleton' ? outlineLines : blockLines, theirs, mine).map(
          ({ name, before, after }) => (
            <li key={name}>
              <p class="change-head">
                <strong>{name}</strong>
              </p>
              <p dir="auto">
                {comparedWords(before, after).map(({ text, kind }, index) => {
                  const Mark = kind === 'same' ? 'span' : kind === 'added' ? 'ins' : 'del';
                  return <Mark key={index}>{text}</Mark>;
                })}
              </p>
            </li>
          ),
        )}
      </ul>
      <p class="help">{t('editor.save.both_text')}</p>
    </Dialog>
  );
}

/** Keeps the other author's step and adds one's own after it; of two outlines, one that has the steps of both. */
function keepBoth(store: EditorStore, { key, theirs }: Conflict, title: string): void {
  const mine = store.document.peek().parts.get(key);
  if (key === 'skeleton') {
    store.edit([[key, mergeSkeletons(mine as Skeleton, theirs as Skeleton)]]);
    return;
  }
  const skeleton = store.skeleton.peek();
  const place = placeOfStep(skeleton, key.slice('step:'.length));
  const step = { id: crypto.randomUUID(), title: t('editor.save.my_version', { title }) };
  store.edit([
    [stepKey(step.id), mine],
    [key, theirs],
    ...(place === undefined
      ? []
      : ([['skeleton', withStep(skeleton, step, { ...place, index: place.index + 1 })]] as const)),
  ]);
}

interface Line {
  id: string;
  name: string;
  text: string;
}

/** The lines that differ between two sides. */
function differences(
  linesOf: (part: never) => Line[],
  theirs: unknown,
  mine: unknown,
): { name: string; before: string; after: string }[] {
  const [one, other] = [linesOf(theirs as never), linesOf(mine as never)];
  const ids = new Set([...one, ...other].map(({ id }) => id));
  return [...ids].flatMap((id) => {
    const before = one.find((line) => line.id === id);
    const after = other.find((line) => line.id === id);
    if (before?.text === after?.text) return [];
    return [
      { name: after?.name ?? before?.name ?? '', before: before?.text ?? '', after: after?.text ?? '' },
    ];
  });
}

function outlineLines({ lesson, sections }: Skeleton): Line[] {
  const all = [
    { id: '', title: lesson.title },
    ...sections.flatMap((section) => [section, ...section.steps]),
  ];
  return all.map(({ id, title }) => ({ id, name: title, text: title }));
}

/** A top-level block with all that is in it. */
function blockLines({ content }: StepContent): Line[] {
  return content.map(({ type, props }: Block) => ({
    ...{ id: props.id, name: widgetName(type), text: textsIn({ ...props, id: '' }).join(' ') },
  }));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return value === '' ? [] : [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
