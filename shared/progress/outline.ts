import { declaredPoints, playedProp, playedProps } from '../lessons/block-props.ts';
import { stepBlocks, typeOf } from '../lessons/blocks.ts';
import { isCoreIn, scoringOf } from '../lessons/core-widgets.ts';
import type { OwnTypes } from '../lessons/core-widgets.ts';
import type { Block, LessonContent, Step } from '../lessons/lesson-content.ts';
import { isClosedAfter, readAttempts } from '../lessons/scoring/scoring.ts';
import type { QuestionFacts } from '../lessons/scoring/scoring.ts';
import { orderedSections, totalsOf } from '../lessons/totals.ts';
import type { ProgressState } from './state.ts';

/**
 * The input of the progress rules: a version's steps in playing order and their widgets. It must stay small, because
 * processes keep one in memory for each version in use.
 */
export interface LessonOutline {
  sections: OutlineSection[];
  totalSteps: number;
}

export interface OutlineSection {
  id: string;
  steps: OutlineStep[];
}

export interface OutlineStep {
  /** Unique in the lesson. */
  id: string;
  /** In reading order. */
  widgets: OutlineWidget[];
}

export interface OutlineWidget {
  /** Unique in the step only. */
  widgetId: string;
  widgetType: string;
  isCore: boolean;
  /** Whether it may be hidden, because it or a block around it has a `visibleIf`. */
  isConditional: boolean;
  /** The input of {@link scoringOf}; null for a widget that the server does not score. */
  question: QuestionFacts | null;
  /** The limit of tries of a question; missing if it has none. */
  attempts?: number;
  /** The points that an author declared for a custom widget; null for core widgets and unscored ones. */
  declaredPoints: number | null;
}

/** Returns the outline of a version's content, which was checked at import. */
export function outlineOf(content: LessonContent, ownTypes: OwnTypes = []): LessonOutline {
  const { overrides } = content.lesson.widget_settings;
  return {
    sections: orderedSections(content).map(({ id, steps }) => ({
      id,
      steps: steps.map((step) => ({ id: step.id, widgets: stepWidgets(step, overrides, ownTypes) })),
    })),
    totalSteps: totalsOf(content).totalSteps,
  };
}

/** Returns the types of the custom widgets in a version. */
export function customTypes({ sections }: LessonOutline): string[] {
  const widgets = sections.flatMap(({ steps }) => steps.flatMap((step) => step.widgets));
  return [...new Set(widgets.flatMap(({ isCore, widgetType }) => (isCore ? [] : widgetType)))];
}

/** Returns the points that a widget can earn; null if it is not scored. */
export function pointsOfWidget({ question, declaredPoints: declared }: OutlineWidget): number | null {
  return question?.points ?? declared;
}

/** Returns whether later answers to a widget change nothing. Custom widgets decide that themselves. */
export function isClosed(
  { question, attempts = Infinity }: OutlineWidget,
  { tries = 1, ...points }: { score: number | null; maxScore: number | null; tries?: number },
): boolean {
  return question !== null && isClosedAfter(points, tries, attempts);
}

/** Returns a key that is unique in the lesson. Ids contain no line breaks. */
export function widgetKey(stepId: string, widgetId: string): string {
  return `${stepId}\n${widgetId}`;
}

/** Returns the widgets of a lesson by {@link widgetKey}, in reading order. */
export function widgetsByKey({ sections }: LessonOutline): Map<string, OutlineWidget> {
  const steps = sections.flatMap((section) => section.steps);
  return new Map(
    steps.flatMap(({ id, widgets }) => widgets.map((widget) => [widgetKey(id, widget.widgetId), widget])),
  );
}

type Overrides = LessonContent['lesson']['widget_settings']['overrides'];

/** A block and the one around it: the block itself, or its id for legacy zones, which name their block. */
interface NestedBlock {
  block: Block;
  parent: NestedBlock | string | undefined;
}

function stepWidgets({ content }: Step, overrides: Overrides, ownTypes: OwnTypes): OutlineWidget[] {
  const nested = [
    nestedBlocks({ content: content.content, root: content.root }, undefined),
    ...Object.entries(content.zones ?? {}).map(([name, blocks]) =>
      nestedBlocks({ content: blocks, root: {} }, name.slice(0, name.lastIndexOf(':'))),
    ),
  ].flat();
  const byId = new Map(nested.map((entry) => [entry.block.props.id, entry]));
  return nested.flatMap((entry) => {
    const widgetType = typeOf(entry.block);
    if (widgetType === undefined) return [];
    const isCore = isCoreIn(ownTypes, widgetType);
    const props = playedProps(entry.block, overrides);
    const question = (isCore ? scoringOf(widgetType)?.questionOf(props) : null) ?? null;
    const attempts = readAttempts(props.attempts);
    return {
      widgetId: entry.block.props.id,
      widgetType,
      isCore,
      isConditional: isConditional(entry, byId, overrides),
      question,
      ...(question !== null && attempts < Infinity && { attempts }),
      declaredPoints: isCore ? null : declaredPoints(props),
    };
  });
}

/** Returns the blocks of a step or of one of its zones in reading order. */
function nestedBlocks(content: Step['content'], zoneOf: string | undefined): NestedBlock[] {
  const found: NestedBlock[] = [];
  // Only these keep their paths: deep ones are long.
  const open: { entry: NestedBlock; inside: string }[] = [];
  for (const { block, path } of stepBlocks(content)) {
    for (let last = open.at(-1); last !== undefined && !path.startsWith(last.inside); last = open.at(-1))
      open.pop();
    const entry: NestedBlock = { block, parent: open.at(-1)?.entry ?? zoneOf };
    open.push({ entry, inside: `${path}.props` });
    found.push(entry);
  }
  return found;
}

function isConditional(entry: NestedBlock, byId: Map<string, NestedBlock>, overrides: Overrides): boolean {
  // A zone may name a block that is inside it.
  const seen = new Set<NestedBlock>();
  for (let next: NestedBlock | undefined = entry; next !== undefined && !seen.has(next);) {
    seen.add(next);
    const visibleIf = playedProp(next.block, overrides, 'visibleIf');
    if (typeof visibleIf === 'object' && visibleIf !== null) return true;
    next = typeof next.parent === 'string' ? byId.get(next.parent) : next.parent;
  }
  return false;
}

/** A learner's position in a version. */
export type StepPosition = Pick<ProgressState, 'sectionIndex' | 'stepIndex' | 'stepId'>;

/** Returns the position of every step of a version, in playing order. */
export function positionsOf(outline: LessonOutline): StepPosition[] {
  return outline.sections.flatMap(({ steps }, sectionIndex) =>
    steps.map(({ id }, stepIndex) => ({ sectionIndex, stepIndex, stepId: id })),
  );
}

/** Returns the position of the first step; 0/0 in a version without steps. */
export function firstPosition(outline: LessonOutline): StepPosition {
  return positionsOf(outline)[0] ?? { sectionIndex: 0, stepIndex: 0, stepId: null };
}
