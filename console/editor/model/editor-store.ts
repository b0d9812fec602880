import { computed, signal } from '@preact/signals';
import type { LessonDraft } from '../../api-types.ts';
import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import { recordOf } from '../../../shared/lessons/json-values.ts';
import type { Fields } from '../../../shared/lessons/widget-fields.ts';
import { readBlocks } from './blocks.ts';
import type { FieldsOf, Finding, StepContent, StepTree } from './blocks.ts';
import { findingsOf, lessonFindings } from './checks.ts';
import { edit, redo, skeletonOf, stepKey, stepOf, undo, withLoaded } from './lesson-document.ts';
import type { LessonDocument, PartKey, Selection, Skeleton } from './lesson-document.ts';
import { loadStep } from './opening.ts';

const loadedTogether = 6;

/** The lesson that is edited in a page. */
export class EditorStore {
  readonly lessonId: string;
  readonly document;
  /** The draft as it was opened. */
  readonly draft: LessonDraft;
  /** What the server has, as far as this page knows: revisions, and values of parts that are loaded. */
  readonly saved = new Map<PartKey, { revision: number; value?: Skeleton | StepContent }>();
  readonly #loading = new Map<string, Promise<StepContent>>();
  readonly #checked = new WeakMap<
    StepContent,
    { stepId: string; lesson: unknown; findings: readonly Finding[] }
  >();
  readonly #trees = new WeakMap<StepContent, StepTree>();

  constructor(lessonId: string, draft: LessonDraft) {
    this.lessonId = lessonId;
    this.draft = draft;
    const skeleton = draft.skeleton as Skeleton;
    this.saved.set('skeleton', { revision: draft.revision, value: skeleton });
    for (const { stepId, revision } of draft.steps) this.saved.set(stepKey(stepId), { revision });
    this.document = signal<LessonDocument>({
      parts: new Map([['skeleton', skeleton]]),
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

  /** What the checks found in the lesson as a whole and in the steps that are loaded. */
  readonly findings = computed((): readonly Finding[] => {
    const skeleton = this.skeleton.value;
    const { parts } = this.document.value;
    const steps = skeleton.sections.flatMap((section) => section.steps);
    return [
      ...lessonFindings(skeleton),
      ...steps.flatMap(({ id }) => {
        const content = stepOf({ parts }, id);
        return content === undefined ? [] : this.#findingsIn(id, content, skeleton);
      }),
    ];
  });

  #findingsIn(stepId: string, content: StepContent, skeleton: Skeleton): readonly Finding[] {
    const known = this.#checked.get(content);
    if (known?.stepId === stepId && known.lesson === skeleton.lesson) return known.findings;
    const findings = findingsOf(stepId, this.blocksOf(content), skeleton);
    this.#checked.set(content, { stepId, lesson: skeleton.lesson, findings });
    return findings;
  }

  /** Whether a step has been saved since the draft began. */
  isChanged(stepId: string): boolean {
    return (this.saved.get(stepKey(stepId))?.revision ?? 2) > 1;
  }

  /** Loads all steps. @throws {ApiError} */
  async loadAll(): Promise<void> {
    const steps = this.skeleton.peek().sections.flatMap((section) => section.steps);
    // A few at a time: a lesson may have hundreds.
    for (let at = 0; at < steps.length; at += loadedTogether)
      await Promise.all(steps.slice(at, at + loadedTogether).map(({ id }) => this.requireStep(id)));
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
    this.saved.set(stepKey(stepId), { revision, value: loaded });
    this.document.value = withLoaded(this.document.peek(), stepKey(stepId), loaded);
    return loaded;
  }
}
