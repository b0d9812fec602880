import { computed, signal } from '@preact/signals';
import type { LessonDraft } from '../../api-types.ts';
import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import { recordOf } from '../../../shared/lessons/json-values.ts';
import type { Fields } from '../../../shared/lessons/widget-fields.ts';
import { readBlocks } from './blocks.ts';
import type { FieldsOf, StepContent, StepTree } from './blocks.ts';
import { edit, redo, skeletonOf, stepKey, stepOf, undo, withLoaded } from './lesson-document.ts';
import type { LessonDocument, PartKey, Selection, Skeleton } from './lesson-document.ts';
import { loadStep } from './opening.ts';

/** The lesson that is edited in a page. */
export class EditorStore {
  readonly lessonId: string;
  readonly document;
  /** The draft as it was opened. */
  readonly draft: LessonDraft;
  /** Revisions on the server by part, as far as this page knows them. */
  readonly revisions = new Map<PartKey, number>();
  readonly #loading = new Map<string, Promise<StepContent>>();
  readonly #trees = new WeakMap<StepContent, StepTree>();

  constructor(lessonId: string, draft: LessonDraft) {
    this.lessonId = lessonId;
    this.draft = draft;
    this.revisions.set('skeleton', draft.revision);
    for (const { stepId, revision } of draft.steps) this.revisions.set(stepKey(stepId), revision);
    this.document = signal<LessonDocument>({
      parts: new Map([['skeleton', draft.skeleton as Skeleton]]),
      ...{ done: [], undone: [], selection: { kind: 'lesson' } },
    });
  }

  readonly skeleton = computed(() => skeletonOf(this.document.value));

  /** The step that is open: that of the selection, else the last one. */
  readonly openStepId = computed((): string | null => {
    const { selection } = this.document.value;
    const steps = this.skeleton.value.sections.flatMap((section) => section.steps);
    const wanted =
      selection.kind === 'step' ? selection.id : 'stepId' in selection ? selection.stepId : this.#lastStepId;
    const open = steps.find(({ id }) => id === wanted) ?? steps[0];
    this.#lastStepId = open?.id ?? null;
    return this.#lastStepId;
  });
  #lastStepId: string | null = null;

  /** The content of the open step; undefined while it is loaded. */
  readonly openStep = computed(() => {
    const id = this.openStepId.value;
    return id === null ? undefined : stepOf(this.document.value, id);
  });

  readonly fieldsOf: FieldsOf = (type) => {
    if (Object.hasOwn(coreWidgetFields, type))
      return (coreWidgetFields as Record<string, Fields>)[type] ?? null;
    const published = recordOf(recordOf(this.skeleton.peek().lesson.widget_settings).fields);
    return Object.hasOwn(published, type) ? (published[type] as Fields) : null;
  };

  /** The blocks of a step that is loaded. */
  blocksOf(content: StepContent): StepTree {
    const known = this.#trees.get(content);
    if (known !== undefined) return known;
    const tree = readBlocks(content, this.fieldsOf);
    this.#trees.set(content, tree);
    return tree;
  }

  select(selection: Selection): void {
    this.document.value = { ...this.document.peek(), selection };
  }

  edit(...[changed, options]: [Parameters<typeof edit>[1], Parameters<typeof edit>[2]?]): void {
    this.document.value = edit(this.document.peek(), changed, options);
  }

  undo(): void {
    this.document.value = undo(this.document.peek());
  }

  redo(): void {
    this.document.value = redo(this.document.peek());
  }

  /** Returns the content of a step, and loads it if it is not there. @throws {ApiError} */
  async requireStep(stepId: string): Promise<StepContent> {
    const known = stepOf(this.document.peek(), stepId);
    if (known !== undefined) return known;
    const loading =
      this.#loading.get(stepId) ??
      this.#load(stepId).finally(() => {
        this.#loading.delete(stepId);
      });
    this.#loading.set(stepId, loading);
    return loading;
  }

  async #load(stepId: string): Promise<StepContent> {
    const { content, revision } = await loadStep(this.lessonId, stepId);
    const loaded = content as StepContent;
    this.revisions.set(stepKey(stepId), revision);
    this.document.value = withLoaded(this.document.peek(), stepKey(stepId), loaded);
    return loaded;
  }
}
