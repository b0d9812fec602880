import { isGeneratedId } from './authoring.ts';
import { stepBlocks, typeOf } from './blocks.ts';
import { compareValues } from './compare-values.ts';
import type { ChangedValue } from './compare-values.ts';
import { recordOf } from './json-values.ts';
import type { Block, LessonContent } from './lesson-content.ts';
import { orderedSections } from './totals.ts';

/** A section, step or block of one version, with its match in the other one. */
export interface Part {
  kind: 'section' | 'step' | 'block';
  id: string;
  value: Record<string, unknown>;
  /** Its place in its section, step or lesson, from 1. */
  number: number;
  /** The section of a step, the step of a block. */
  parent: Part | null;
  /** The steps of a section, or all blocks of a step, in reading order. */
  children: Part[];
  isEarlier: boolean;
  match: Part | undefined;
  /** Whether it has its place among the parts around it in both versions. */
  isKept: boolean;
  values: ChangedValue[];
}

/** A difference between two versions of a lesson. */
export interface LessonDifference {
  /** In the later version; a removed part in the earlier one; null for the lesson itself. */
  part: Part | null;
  /** Either `added` or `removed`, or else `moved`, `changed` or both. */
  changes: ('added' | 'removed' | 'moved' | 'changed')[];
  values: ChangedValue[];
}

/**
 * Yields the differences between two versions of a lesson, in the order of the lesson: sections, steps and blocks, matched
 * by id. An id that an import made from a text changes with the text: such parts are then matched by their place. Removed
 * parts come where they were.
 */
export function* lessonDifferences(before: LessonContent, after: LessonContent): Generator<LessonDifference> {
  const [earlier, later] = [outlineOf(before, true), outlineOf(after, false)];
  const steps = [stepsOf(earlier), stepsOf(later)] as const;
  matchById(earlier, later);
  matchById(...steps);
  matchSiblings(earlier, later);
  for (const section of later) if (section.match) matchSiblings(section.match.children, section.children);
  for (const step of steps[1]) if (step.match) matchById(step.match.children, step.children);
  matchById(...(steps.map((some) => some.flatMap(({ children }) => children)) as [Part[], Part[]]));
  compareParts(later, steps);

  const values = compareValues(lessonFields(before), lessonFields(after), () => false).values;
  if (values.length > 0) yield { part: null, changes: ['changed'], values };
  yield* differences(earlier, later);
}

function* differences(before: readonly Part[], after: readonly Part[]): Generator<LessonDifference> {
  for (const part of merged(before, after)) {
    const { match, isEarlier, isKept, values, children } = part;
    if (match === undefined) yield { part, changes: [isEarlier ? 'removed' : 'added'], values: [] };
    else {
      const changes: LessonDifference['changes'] = isKept ? [] : ['moved'];
      if (values.length > 0 || match.id !== part.id) changes.push('changed');
      if (changes.length > 0) yield { part, changes, values };
    }
    yield* isEarlier ? differences(children, []) : differences(match?.children ?? [], children);
  }
}

/** Yields the later parts, and those that were removed after the part that they followed. */
function* merged(before: readonly Part[], after: readonly Part[]): Generator<Part> {
  const siblings = new Set(after);
  const removed = new Map<Part | null, Part[]>();
  let last: Part | null = null;
  for (const part of before) {
    if (part.match === undefined) {
      const here = removed.get(last) ?? [];
      here.push(part);
      removed.set(last, here);
    } else if (siblings.has(part.match)) last = part.match;
  }
  yield* removed.get(null) ?? [];
  for (const part of after) {
    yield part;
    yield* removed.get(part) ?? [];
  }
}

function outlineOf(content: LessonContent, isEarlier: boolean): Part[] {
  const partOf = (
    kind: Part['kind'],
    [value, index]: [value: Part['value'], index: number],
    parent: Part | null,
    id: string,
  ): Part => {
    const found = { match: undefined, isKept: false, values: [] };
    return { kind, id, value, number: index + 1, parent, children: [], isEarlier, ...found };
  };
  return orderedSections(content).map((section, index) => {
    const ofSection = partOf('section', [section, index], null, section.id);
    ofSection.children = section.steps.map((step, at) => {
      const ofStep = partOf('step', [step, at], ofSection, step.id);
      ofStep.children = [...stepBlocks(step.content)].map(({ block }, place) =>
        partOf('block', [block as unknown as Part['value'], place], ofStep, block.props.id),
      );
      return ofStep;
    });
    return ofSection;
  });
}

function stepsOf(sections: readonly Part[]): Part[] {
  return sections.flatMap(({ children }) => children);
}

/** Matches the parts whose id is unique among these in both versions. */
function matchById(before: readonly Part[], after: readonly Part[]): void {
  const [earlier, later] = [uniqueById(before), uniqueById(after)];
  for (const [id, part] of later) {
    const match = earlier.get(id);
    if (part && match && !part.match && !match.match) setMatch(match, part);
  }
}

/** @returns null for ids that several parts have */
function uniqueById(parts: readonly Part[]): Map<string, Part | null> {
  const found = new Map<string, Part | null>();
  for (const part of parts) found.set(part.id, found.has(part.id) ? null : part);
  return found;
}

function setMatch(before: Part, after: Part): void {
  before.match = after;
  after.match = before;
}

/** Finds out which of these siblings kept their place, and matches those between them whose ids an import has made. */
function matchSiblings(before: readonly Part[], after: readonly Part[]): Part[] {
  const places = new Map(before.map((part, index) => [part, index]));
  const common = after.flatMap((part, index) => {
    const place = part.match && places.get(part.match);
    return place === undefined ? [] : [{ part, index, place }];
  });
  const kept = longestIncreasing(common.map(({ place }) => place)).flatMap((at) => common[at] ?? []);
  const matched: Part[] = [];
  let [from, to] = [0, 0];
  for (const { part, index, place } of [...kept, { part: null, index: after.length, place: before.length }]) {
    if (part) part.isKept = true;
    matched.push(...matchByPlace(before.slice(from, place), after.slice(to, index)));
    [from, to] = [place + 1, index + 1];
  }
  return matched;
}

/** @returns the later parts that it has matched */
function matchByPlace(before: readonly Part[], after: readonly Part[]): Part[] {
  const isOpen = ({ match, id }: Part) => match === undefined && isGeneratedId(id);
  const open = before.filter(isOpen);
  return after.filter((part) => {
    const at = isOpen(part) ? open.findIndex(({ value }) => value.type === part.value.type) : -1;
    const [match] = at === -1 ? [] : open.splice(0, at + 1).slice(-1);
    if (match === undefined) return false;
    setMatch(match, part);
    part.isKept = true;
    return true;
  });
}

/** Compares the values of matched parts, and finds out which blocks kept their place. */
function compareParts(sections: readonly Part[], steps: readonly (readonly Part[])[]): void {
  const blocks = steps.flatMap((some) => some.flatMap(({ children }) => children));
  const partOf = new Map<unknown, Part>(blocks.map((part) => [part.value, part]));
  const partsOf = (values: readonly unknown[]) => values.flatMap((value) => partOf.get(value) ?? []);
  const pending = [...sections, ...steps.flat(), ...blocks].filter(({ isEarlier }) => !isEarlier);
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.match === undefined) continue;
    const { values, slots } = compareValues(fieldsOf(part.match), fieldsOf(part), (value) =>
      partOf.has(value),
    );
    part.values = values;
    for (const { before, after } of slots) pending.push(...matchSiblings(partsOf(before), partsOf(after)));
  }
}

/** Returns what is compared of a part, without its id and its place. A block has its props beside its other fields. */
function fieldsOf({ kind, value }: Part): Record<string, unknown> {
  const { id: _id, order_index: _order, steps: _steps, ...fields } = value;
  if (kind !== 'block') return fields;
  const { props, type: _type, ...others } = value;
  const { id: _blockId, ...rest } = recordOf(props);
  return { ...others, type: typeOf(value as unknown as Block), ...rest };
}

/** Returns the fields of the lesson outside its sections. Its totals follow from them; id and status are of its version. */
function lessonFields(content: LessonContent): Record<string, unknown> {
  const { lesson, sections: _sections, totalSections: _all, totalSteps: _steps, ...others } = content;
  const { id: _id, status: _status, ...fields } = lesson;
  return { ...others, ...fields };
}

/** Returns the places of a longest increasing subsequence, in order. */
function longestIncreasing(numbers: readonly number[]): number[] {
  /** The place of the smallest number that ends an increasing subsequence of each length. */
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [place, number] of numbers.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    previous[place] = ends[low - 1];
    ends[low] = place;
  }
  const found: number[] = [];
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) found.push(at);
  return found.reverse();
}
