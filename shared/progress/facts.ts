import { LecternError } from '../platform/errors.ts';
import { quote } from '../lessons/json-values.ts';
import { carryItems, positionIn } from './carry-over.ts';
import { positionsOf } from './outline.ts';
import type { LessonOutline, OutlineStep, OutlineWidget, StepPosition } from './outline.ts';
import { scoreAnswer } from './score.ts';
import type { FactOrder, StoredAttributes, StoredItem } from './state.ts';
import type { ProgressWrite, WrittenItem } from './write.ts';

const dayMs = 24 * 3_600_000;

/** The maximum age of a fact. An older one counts as one of this age. */
export const maxAgeMs = 90 * dayMs;

/** The maximum size of an answer as JSON. */
export const maxAnswerBytes = 64 * 1024;

/**
 * What a write says, in terms of a version of the lesson: each fact has a time, and each answer its points. The order of
 * the write applies to all facts but the answers, which have their own times.
 */
export interface Facts extends FactOrder {
  attempt: number;
  /** Null to keep it. */
  position: StepPosition | null;
  /** Their `tries` are the player's claim; 0 without one. */
  items: StoredItem[];
  variables: { name: string; value: string }[];
  /** Undefined to keep it; null to clear it. */
  progressData: string | null | undefined;
  /** Milliseconds of active time to add, by the step's id. */
  stepTimes: Record<string, number>;
  completed: boolean;
  /** Whether the learner has done more than view the first step. */
  hasActed: boolean;
  userAttributes: StoredAttributes | null;
}

/** The circumstances of a write. */
export interface WriteContext {
  /** The server's time of arrival. */
  now: Date;
  writeId: string;
  attempt: number;
  userAttributes: StoredAttributes | null;
}

/**
 * Returns the facts of a write. Points are computed here, because players cannot be trusted.
 *
 * @param outline the outline of the write's version
 * @throws {LecternError} INVALID_CONTENT for a write that does not fit the version; PAYLOAD_TOO_LARGE for a long answer
 */
export function factsOf(
  write: ProgressWrite,
  outline: LessonOutline,
  { now, writeId, attempt, userAttributes }: WriteContext,
): Facts {
  const { progressData, variables, stepTimes, completed } = write;
  const position = positionOf(write, outline);
  const steps = new Map(outline.sections.flatMap((section) => section.steps).map((step) => [step.id, step]));
  const widgetIn = widgetFinder();
  for (const stepId of Object.keys(stepTimes)) {
    if (!steps.has(stepId))
      throw invalid(`stepTimes has ${quote(stepId)}, which is not a step of the version`);
  }
  return {
    ...{ at: timeOf(write.ageMs, now), writeId, attempt, position, variables, progressData },
    items: write.items.map((item, index) => ({
      ...itemOf(item, findStep(steps, item.stepId ?? position.stepId, index), { index, widgetIn }),
      answeredAt: timeOf(item.ageMs ?? write.ageMs, now),
      writeId,
    })),
    ...{ stepTimes, completed, userAttributes },
    hasActed: hasActed(write) || attempt > 1,
  };
}

/** Returns the facts in terms of another version, as `carryOver` does for a record. */
export function carryFacts(facts: Facts, from: LessonOutline, to: LessonOutline): Facts {
  const steps = new Set(positionsOf(to).map(({ stepId }) => stepId));
  return {
    ...facts,
    position: facts.position && positionIn(to, facts.position.stepId, from),
    items: carryItems(facts.items, from, to),
    stepTimes: Object.fromEntries(Object.entries(facts.stepTimes).filter(([stepId]) => steps.has(stepId))),
  };
}

/** Returns the facts since an erasure of the learner's data; null if none is left. */
export function factsSince(facts: Facts, erasedAt: Date): Facts | null {
  const items = facts.items.filter(({ answeredAt }) => answeredAt > erasedAt);
  if (facts.at > erasedAt) return { ...facts, items };
  if (items.length === 0) return null;
  const nothing = { position: null, variables: [], progressData: undefined, stepTimes: {}, completed: false };
  return { ...facts, ...nothing, items };
}

/** A fact from the future loses to all others: its player's clock has changed. */
function timeOf(ageMs: number, now: Date): Date {
  return new Date(now.getTime() - (ageMs < 0 ? maxAgeMs : Math.min(ageMs, maxAgeMs)));
}

function positionOf(write: ProgressWrite, outline: LessonOutline): StepPosition {
  const { currentSectionIndex, currentStepIndex } = write;
  const position = positionsOf(outline).find(
    ({ sectionIndex, stepIndex }) => sectionIndex === currentSectionIndex && stepIndex === currentStepIndex,
  );
  if (position === undefined) throw outOfRange(write, outline);
  return position;
}

function outOfRange({ currentSectionIndex, currentStepIndex }: ProgressWrite, { sections }: LessonOutline) {
  const steps = sections[currentSectionIndex]?.steps;
  return steps === undefined
    ? invalid(`currentSectionIndex must be between 0 and ${sections.length - 1}, not ${currentSectionIndex}`)
    : invalid(`currentStepIndex must be between 0 and ${steps.length - 1}, not ${currentStepIndex}`);
}

function hasActed(write: ProgressWrite): boolean {
  const isElsewhere = write.currentSectionIndex > 0 || write.currentStepIndex > 0;
  return (
    isElsewhere ||
    typeof write.progressData === 'string' ||
    write.variables.length > 0 ||
    write.items.length > 0
  );
}

/** Ids of widgets are unique within a step only. */
function findStep(
  steps: ReadonlyMap<string | null, OutlineStep>,
  stepId: string | null,
  index: number,
): OutlineStep {
  const step = steps.get(stepId);
  if (step === undefined)
    throw invalid(`items[${index}].stepId ${quote(stepId ?? '')} is not a step of the version`);
  return step;
}

/** Returns a function that finds a widget of a step. It reads a step once: one may have 20,000 widgets. */
function widgetFinder(): (step: OutlineStep, widgetId: string) => OutlineWidget | undefined {
  const known = new Map<OutlineStep, Map<string, OutlineWidget>>();
  return (step, widgetId) => {
    const widgets = known.get(step) ?? new Map(step.widgets.map((widget) => [widget.widgetId, widget]));
    known.set(step, widgets);
    return widgets.get(widgetId);
  };
}

function itemOf(
  { widgetId, answer, score, maxScore, tries = 0 }: WrittenItem,
  step: OutlineStep,
  { index, widgetIn }: { index: number; widgetIn: ReturnType<typeof widgetFinder> },
): Omit<StoredItem, 'answeredAt' | 'writeId'> {
  const { id: stepId } = step;
  const widget = widgetIn(step, widgetId);
  if (widget === undefined) {
    throw invalid(`items[${index}].widgetId ${quote(widgetId)} is not a widget of the step ${quote(stepId)}`);
  }
  const bytes = Buffer.byteLength(answer);
  if (bytes > maxAnswerBytes) {
    throw new LecternError(
      'PAYLOAD_TOO_LARGE',
      `items[${index}].answer may be at most ${maxAnswerBytes} bytes, and is ${bytes}`,
    );
  }
  const { widgetType } = widget;
  return { stepId, widgetId, widgetType, answer, ...scoreAnswer(widget, answer, { score, maxScore }), tries };
}

function invalid(message: string): LecternError {
  return new LecternError('INVALID_CONTENT', message);
}
