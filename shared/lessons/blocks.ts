import { isContainer, isRecord, maxJsonDepth, quote, recordOf, tooDeep } from './json-values.ts';
import type { Block, LessonContent, Section, Step, StepContent } from './lesson-content.ts';

export interface BlockVisit {
  block: Block;
  /** Such as `content.content[4].props.body[1]`. */
  path: string;
}

export interface LessonBlockVisit extends BlockVisit {
  section: Section;
  step: Step;
}

interface Pending {
  value: unknown;
  path: string;
  depth: number;
  /** True for elements of `content` and of zones, which must be blocks. */
  isBlockPosition: boolean;
}

/**
 * Yields every block of a step in reading order: those of `content`, then of `root`, then of the legacy `zones`. A
 * block comes before the blocks in its slots. A widget's slots are not known here, so any object `{type, props}`
 * inside props is a block, at any depth.
 *
 * The content may be unchecked: elements of `content` and of zones are yielded even if they are not objects.
 *
 * @throws {LecternError} INVALID_CONTENT for content that is nested too deep
 */
export function* stepBlocks(content: StepContent, path = 'content'): Generator<BlockVisit> {
  const pending: Pending[] = [
    ...Object.entries(recordOf(content.zones))
      .reverse()
      .flatMap(([name, zone]) => listed(zone, memberPath(`${path}.zones`, name), 3, true)),
    ...members(recordOf(content.root), `${path}.root`, 1),
    ...listed(content.content, `${path}.content`, 2, true),
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path: place, depth, isBlockPosition } = next;
    if (depth > maxJsonDepth) throw tooDeep();
    if (isBlockPosition || looksLikeBlock(value)) {
      yield { block: value as Block, path: place };
      append(pending, members(recordOf(recordOf(value).props), `${place}.props`, depth + 1));
    } else if (Array.isArray(value)) {
      append(pending, listed(value, place, depth, false));
    } else {
      append(pending, members(recordOf(value), place, depth));
    }
  }
}

/** Yields every block of a lesson as {@link stepBlocks} does, with paths from the top of lesson.json. */
export function* lessonBlocks(content: LessonContent): Generator<LessonBlockVisit> {
  for (const [sectionIndex, section] of content.sections.entries()) {
    for (const [stepIndex, step] of section.steps.entries()) {
      const path = `sections[${sectionIndex}].steps[${stepIndex}].content`;
      for (const visit of stepBlocks(step.content, path)) yield { ...visit, section, step };
    }
  }
}

/** Returns the widget types that a lesson uses, each once, sorted by code unit. */
export function usedWidgetTypes(content: LessonContent): string[] {
  const types = new Set<string>();
  for (const { block } of lessonBlocks(content)) {
    const type = typeOf(block);
    if (type !== undefined) types.add(type);
  }
  return [...types].sort();
}

/** Returns a block's widget type; undefined if it is missing, empty or not a string. */
export function typeOf(block: Block): string | undefined {
  const { type } = recordOf(block);
  return typeof type === 'string' && type !== '' ? type : undefined;
}

/** Appends a member's key to a path; a key that is not an identifier is quoted. */
export function memberPath(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]{0,79}$/.test(key) ? `${path}.${key}` : `${path}[${quote(key)}]`;
}

/** Recognizes a block inside props, even if its type is missing. */
function looksLikeBlock(value: unknown): boolean {
  const { type, props } = recordOf(value);
  if (!isRecord(props)) return false;
  return typeof type === 'string' || typeof props.id === 'string';
}

/** Returns the elements of an array at `depth`, last first, so that popping them gives reading order. */
function listed(value: unknown, path: string, depth: number, isBlockPosition: boolean): Pending[] {
  if (!Array.isArray(value)) return [];
  const found: Pending[] = [];
  for (const [index, element] of (value as unknown[]).entries()) {
    if (isBlockPosition || isContainer(element)) {
      found.push({ value: element, path: `${path}[${index}]`, depth: depth + 1, isBlockPosition });
    }
  }
  return found.reverse();
}

function members(value: Record<string, unknown>, path: string, depth: number): Pending[] {
  const found: Pending[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (isContainer(member)) {
      found.push({ value: member, path: memberPath(path, key), depth: depth + 1, isBlockPosition: false });
    }
  }
  return found.reverse();
}

/** Appends without spreading: the number of a call's arguments is limited. */
function append(pending: Pending[], more: Pending[]): void {
  for (const entry of more) pending.push(entry);
}

/** Ends at the next `<` too: otherwise the time grows with the square of a text with many of them. */
const tags = /<[^<>]*>/g;

/** A formula that import has converted from TeX. Ends at the next one, too, for the same reason. */
const formulas = /<math data-tex="([^"<>]*)"[^<>]*>(?:(?!<math[ >]).)*?<\/math>/gs;

/** Returns an HTML text with TeX in place of formulas. Without markup, x² would read x2. */
export function withTex(html: string): string {
  return html.replaceAll(formulas, '$1');
}

/** Returns an HTML text with a space in place of each tag, and TeX in place of formulas. */
export function withoutTags(html: string): string {
  return withTex(html).replaceAll(tags, ' ');
}
