import type { RootContent } from 'mdast';
import type { ContainerDirective } from 'mdast-util-directive';
import { toString } from 'mdast-util-to-string';
import { coreWidgetTypes } from '../../lessons/core-widgets.ts';
import type { CoreWidgetType } from '../../lessons/core-widgets.ts';
import { nearestName } from '../../platform/unknown-names.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { propsOf } from './attributes.ts';
import type { Attributes } from './parse.ts';
import {
  flashcards,
  gapQuestion,
  isChoiceList,
  labelOf,
  matching,
  multipleChoice,
  ordering,
  tableRows,
} from './questions.ts';
import type { TextFile } from './text-file.ts';

type ReadBlocks = (nodes: readonly RootContent[]) => ConvertedBlock[];

/** Returns the name of a directive for a widget: `true-false` for `TrueFalse`. */
export function directiveName(type: string): string {
  return type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

const typesByName = new Map(coreWidgetTypes.map((type) => [directiveName(type), type]));

const questions = new Set<CoreWidgetType>([
  ...([
    'MultipleChoice',
    'TrueFalse',
    'FillInTheBlanks',
    'Matching',
    'Ordering',
    'Numeric',
    'OpenResponse',
  ] as const),
]);

export function isQuestionDirective(node: RootContent): boolean {
  if (node.type !== 'containerDirective' && node.type !== 'leafDirective') return false;
  const type = typesByName.get(node.name);
  return type !== undefined && questions.has(type);
}

/** Returns the block of `::name{…}` or `:::name{…} … :::`; null with a fault if there is none. */
export function directiveBlock(
  node: ContainerDirective,
  file: TextFile,
  readBlocks: ReadBlocks,
): ConvertedBlock | null {
  const type = typesByName.get(node.name);
  if (type === undefined) {
    const nearest = nearestName(node.name, [...typesByName.keys()], () => 2);
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    file.fault(node, `there is no block ${node.name}${hint}`);
    return null;
  }
  const { answer, ...others } = attributesOf(node);
  const attributes = answer === undefined ? others : { ...others, correct: answer };
  const props = propsOf(type, attributes, file.attributesAt(node));
  return { type, props: { ...bodyOf(type, node, file, readBlocks), ...props } };
}

function attributesOf(node: ContainerDirective): Attributes {
  return Object.fromEntries(Object.entries(node.attributes ?? {}).map(([key, value]) => [key, value ?? '']));
}

/** What a directive for a widget has inside. */
interface Body {
  node: ContainerDirective;
  file: TextFile;
  readBlocks: ReadBlocks;
  /** The plain text of `[label]`. */
  title: string | null;
  /** The children without the label. */
  body: RootContent[];
}

type ReadBody = (body: Body) => Record<string, unknown>;

const htmlAs =
  (prop: string): ReadBody =>
  ({ body, file, node }) =>
    body.length === 0 ? {} : { [prop]: file.html(body, node) };

const withList =
  (type: ListedType): ReadBody =>
  ({ node, body, file }) =>
    withParts(type, node, body, file);

/** The widgets whose directives have something inside; the others have attributes only. */
const bodies: Partial<Record<CoreWidgetType, ReadBody>> = {
  Text: htmlAs('html'),
  Quote: htmlAs('html'),
  Callout: ({ title, body, readBlocks }) => ({ ...(title !== null && { title }), body: readBlocks(body) }),
  Columns: ({ node, file, readBlocks }) => ({
    columns: partsOf(node, 'column', file).map((part) => readBlocks(part.children)),
  }),
  Tabs: ({ node, file, readBlocks }) => ({
    tabs: partsOf(node, 'tab', file).map((part) => titled(part, readBlocks)),
  }),
  Accordion: ({ node, file, readBlocks }) => ({
    panels: partsOf(node, 'panel', file).map((part) => titled(part, readBlocks)),
  }),
  MultipleChoice: withList('MultipleChoice'),
  Ordering: withList('Ordering'),
  Matching: withList('Matching'),
  Flashcards: withList('Flashcards'),
  FillInTheBlanks: ({ node, body, file }) => gapQuestion(body, file, node).props,
  TrueFalse: htmlAs('prompt'),
  Numeric: htmlAs('prompt'),
  OpenResponse: htmlAs('prompt'),
};

function bodyOf(
  type: CoreWidgetType,
  node: ContainerDirective,
  file: TextFile,
  readBlocks: ReadBlocks,
): Record<string, unknown> {
  const { label, body } = labelOf(node);
  const read = bodies[type];
  if (read !== undefined) {
    return read({ node, file, readBlocks, title: label === null ? null : toString(label), body });
  }
  if (body.length > 0) file.fault(node, `${node.name} has attributes only, as ::${node.name}{…}`);
  return {};
}

type ListedType = 'MultipleChoice' | 'Ordering' | 'Matching' | 'Flashcards';

/** A question whose last element is a list or a table. What is before it is the prompt. */
function withParts(
  type: ListedType,
  node: ContainerDirective,
  body: readonly RootContent[],
  file: TextFile,
): Record<string, unknown> {
  const last = body.at(-1);
  const before = body.slice(0, -1);
  const prompt = before.length === 0 ? {} : { prompt: file.html(before, node) };
  const found = last === undefined ? null : partsIn(type, last, file);
  if (found === null) {
    const needed = { MultipleChoice: 'a list with [x] and [ ]', Ordering: 'a numbered list' };
    const what =
      type === 'MultipleChoice' || type === 'Ordering' ? needed[type] : 'rows such as | left | right |';
    file.fault(node, `${node.name} needs ${what} at its end`);
    return prompt;
  }
  return { ...prompt, ...found.props };
}

function partsIn(type: ListedType, last: RootContent, file: TextFile): ConvertedBlock | null {
  if (type === 'MultipleChoice') return isChoiceList(last) ? multipleChoice(last, file) : null;
  if (type === 'Ordering') return last.type === 'list' ? ordering(last, file) : null;
  const rows = tableRows([last], file);
  if (rows === null) return null;
  return type === 'Matching' ? matching(rows, file, last) : flashcards(rows);
}

/** Returns the directives inside another one, such as the columns of `:::columns`. */
function partsOf(node: ContainerDirective, name: string, file: TextFile): ContainerDirective[] {
  const parts: ContainerDirective[] = [];
  for (const child of node.children) {
    if (child.type === 'containerDirective' && child.name === name) parts.push(child);
    else file.fault(child, `${node.name} has only :::${name} inside, with fewer colons than ${node.name}`);
  }
  return parts;
}

function titled(part: ContainerDirective, readBlocks: ReadBlocks): Record<string, unknown> {
  const { label, body } = labelOf(part);
  return {
    title: label === null ? '' : toString(label),
    body: readBlocks(body),
    ...(part.attributes?.open !== undefined && { open: true }),
  };
}
