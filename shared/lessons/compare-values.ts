import { diffArrays } from 'diff';
import { isContainer, isRecord, listOf, recordOf } from './json-values.ts';

/** A value that differs between two versions of a JSON value; the missing side is undefined. */
export interface ChangedValue {
  /** Such as `choices[b].html`: parts of lists are named by their id, and otherwise by their place. */
  path: string;
  before: unknown;
  after: unknown;
}

/** The blocks of one list in both versions. */
export interface Slot {
  before: unknown[];
  after: unknown[];
}

/** Lists with more differences are compared place by place, because the time grows with the square of their number. */
const maxListEdits = 500;

interface Found {
  values: ChangedValue[];
  slots: Slot[];
  isBlock: (value: unknown) => boolean;
}

/** Compares two JSON values. The blocks in them are not compared: they are returned, list by list. */
export function compareValues(
  before: unknown,
  after: unknown,
  isBlock: (value: unknown) => boolean,
): Pick<Found, 'values' | 'slots'> {
  const found: Found = { values: [], slots: [], isBlock };
  compare(before, after, '', found);
  return found;
}

function compare(before: unknown, after: unknown, path: string, found: Found): void {
  if (before === after) return;
  const both = [before, after];
  const blocks = both.map((value) => [value].flat().filter(found.isBlock));
  const [earlier = [], later = []] = blocks;
  if (earlier.length > 0 || later.length > 0) {
    found.slots.push({ before: earlier, after: later });
  } else if (both.some(hasObjects) && both.every((value) => value === undefined || Array.isArray(value))) {
    compareLists(listOf(before), listOf(after), path, found);
  } else if (both.some(hasMembers) && both.every((value) => value === undefined || isRecord(value))) {
    compareRecords(recordOf(before), recordOf(after), path, found);
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    found.values.push({ path, before, after });
  }
}

function compareRecords(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  path: string,
  found: Found,
): void {
  for (const name of new Set([...Object.keys(after), ...Object.keys(before)]))
    compare(own(before, name), own(after, name), path === '' ? name : `${path}.${name}`, found);
}

function own(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function compareLists(before: unknown[], after: unknown[], path: string, found: Found): void {
  const ids = [idsOf(before), idsOf(after)] as const;
  if (ids[0] === undefined || ids[1] === undefined) {
    const text = (element: unknown) => textOf(element, found.isBlock);
    for (const [from, to] of alignedPairs(before.map(text), after.map(text)))
      compare(from && before[from.index], to && after[to.index], `${path}[${(to ?? from)?.index}]`, found);
    return;
  }
  const [idsBefore, idsAfter] = ids;
  const earlier = new Map(idsBefore.map((id, index) => [id, before[index]]));
  const later = new Map(idsAfter.map((id, index) => [id, after[index]]));
  for (const id of new Set([...idsAfter, ...idsBefore]))
    compare(earlier.get(id), later.get(id), `${path}[${id}]`, found);
  const kept = [idsBefore.filter((id) => later.has(id)), idsAfter.filter((id) => earlier.has(id))] as const;
  if (kept[0].some((id, index) => id !== kept[1][index]))
    found.values.push({ path, before: idsBefore, after: idsAfter });
}

interface Place {
  index: number;
}

/** Pairs the elements of two lists: equal ones, and between these the others by their place. */
function* alignedPairs(before: string[], after: string[]): Generator<[Place | undefined, Place | undefined]> {
  const edits = diffArrays(before, after, { maxEditLength: maxListEdits }) ?? [
    { removed: true, count: before.length },
    { added: true, count: after.length },
  ];
  let [from, to] = [0, 0];
  let [fromEnd, toEnd] = [0, 0];
  function* rest(): Generator<[Place | undefined, Place | undefined]> {
    for (; from < fromEnd || to < toEnd; from += 1, to += 1)
      yield [from < fromEnd ? { index: from } : undefined, to < toEnd ? { index: to } : undefined];
    [from, to] = [fromEnd, toEnd];
  }
  for (const { added = false, removed = false, count } of edits) {
    if (removed) fromEnd += count;
    else if (added) toEnd += count;
    else {
      yield* rest();
      [fromEnd, toEnd] = [from + count, to + count];
      yield* rest();
    }
  }
  yield* rest();
}

/** Returns the text of a value for comparisons, in which an id stands for each block. */
function textOf(value: unknown, isBlock: Found['isBlock']): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isBlock(member) ? { id: recordOf(recordOf(member).props).id } : member,
  );
}

/** Returns the ids of objects if each has a different one. */
function idsOf(list: unknown[]): string[] | undefined {
  const ids = list.map((element) => recordOf(element).id).filter((id) => typeof id === 'string');
  return new Set(ids).size === list.length ? ids : undefined;
}

function hasObjects(value: unknown): boolean {
  return Array.isArray(value) && value.some(isContainer);
}

function hasMembers(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0;
}
