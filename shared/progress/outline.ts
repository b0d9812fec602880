import { declaredPoints, playedProps } from '../lessons/block-props.ts';
import { stepBlocks, typeOf } from '../lessons/blocks.ts';
import { isCoreWidget, scoringOf } from '../lessons/core-widgets.ts';
import type { Block, LessonContent, Step } from '../lessons/lesson-content.ts';
import type { QuestionFacts } from '../lessons/scoring.ts';
import { orderedSections, totalsOf } from '../lessons/totals.ts';
import type { ProgressState } from './state.ts';

/**
 * What the progress rules need of a version: its steps in playing order and the widgets in them. It is small, for
 * it is kept in memory for each version in use.
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
  /** Whether it may be hidden: it stands under a `visibleIf`, its own or that of a block around it. */
  isConditional: boolean;
  /** For {@link scoringOf}; null for a widget that the server does not score. */
  question: QuestionFacts | null;
  /** What a custom widget can earn, as its author declared; null for one that is not scored, and for a core widget. */
  declaredPoints: number | null;
}

/** The outline of a version whose content was checked when it was imported. */
export function outlineOf(content: LessonContent): LessonOutline {
  const { overrides } = content.lesson.widget_settings;
  return {
    sections: orderedSections(content).map(({ id, steps }) => ({
      id,
      steps: steps.map((step) => ({ id: step.id, widgets: stepWidgets(step, overrides) })),
    })),
    totalSteps: totalsOf(content).totalSteps,
  };
}

/** Returns the types of the widgets in a version, core types included. */
export function widgetTypes({ sections }: LessonOutline): Set<string> {
  const widgets = sections.flatMap(({ steps }) => steps.flatMap((step) => step.widgets));
  return new Set(widgets.map(({ widgetType }) => widgetType));
}

/** What a widget can earn; null for one that is not scored. */
export function pointsOfWidget({ question, declaredPoints: declared }: OutlineWidget): number | null {
  return question?.points ?? declared;
}

/** Names a widget in the lesson. Ids hold no line breaks. */
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

/** A block and the one it stands in: that one itself, or its id, for a legacy zone names its block. */
interface Placed {
  block: Block;
  path: string;
  around: Placed | string | undefined;
}

function stepWidgets({ content }: Step, overrides: Overrides): OutlineWidget[] {
  const placed = [
    placedIn({ content: content.content, root: content.root }, undefined),
    ...Object.entries(content.zones ?? {}).map(([name, blocks]) =>
      placedIn({ content: blocks, root: {} }, name.slice(0, name.lastIndexOf(':'))),
    ),
  ].flat();
  const byId = new Map(placed.map((entry) => [entry.block.props.id, entry]));
  return placed.flatMap((entry) => {
    const widgetType = typeOf(entry.block);
    if (widgetType === undefined) return [];
    const isCore = isCoreWidget(widgetType);
    const props = playedProps(entry.block, overrides);
    return {
      widgetId: entry.block.props.id,
      widgetType,
      isCore,
      isConditional: isConditional(entry, byId, overrides),
      question: scoringOf(widgetType)?.questionOf(props) ?? null,
      declaredPoints: isCore ? null : declaredPoints(props),
    };
  });
}

/** The blocks of a step or of one of its zones in reading order, each with the one around it. */
function placedIn(content: Step['content'], zoneOf: string | undefined): Placed[] {
  const placed: Placed[] = [];
  const open: Placed[] = [];
  for (const { block, path } of stepBlocks(content)) {
    while (open.length > 0 && !path.startsWith(`${open.at(-1)?.path}.props`)) open.pop();
    const entry: Placed = { block, path, around: open.at(-1) ?? zoneOf };
    open.push(entry);
    placed.push(entry);
  }
  return placed;
}

function isConditional(entry: Placed, byId: Map<string, Placed>, overrides: Overrides): boolean {
  // A zone may name a block that stands in it.
  const seen = new Set<Placed>();
  for (let next: Placed | undefined = entry; next !== undefined && !seen.has(next);) {
    seen.add(next);
    const { visibleIf } = playedProps(next.block, overrides);
    if (typeof visibleIf === 'object' && visibleIf !== null) return true;
    next = typeof next.around === 'string' ? byId.get(next.around) : next.around;
  }
  return false;
}

/** Where a learner is in a version. */
export type Place = Pick<ProgressState, 'sectionIndex' | 'stepIndex' | 'stepId'>;

/** Every step of a version in playing order. */
export function placesOf(outline: LessonOutline): Place[] {
  return outline.sections.flatMap(({ steps }, sectionIndex) =>
    steps.map(({ id }, stepIndex) => ({ sectionIndex, stepIndex, stepId: id })),
  );
}

/** The first step; position 0/0 in a version without steps. */
export function firstPlace(outline: LessonOutline): Place {
  return placesOf(outline)[0] ?? { sectionIndex: 0, stepIndex: 0, stepId: null };
}
