import type { ConvertedMedia } from '../media.ts';
import { SourceFault } from '../source.ts';
import { childOf, childrenOf, parseXml } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { readInteraction } from './interactions.ts';
import { ItemBody } from './item-body.ts';
import type { Interaction, QtiItem } from './item.ts';
import { processResponses, Unsupported } from './processing.ts';
import type { Rules } from './processing.ts';
import { memberOf, numberOr, readResponse, valuesIn } from './values.ts';
import type { Answers, Value } from './values.ts';

/** Some programs write these in lower case. */
const lowerCaseNames = new Map(
  ['textEntryInteraction', 'inlineChoiceInteraction', 'extendedTextInteraction'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/** Parses a file of QTI 2 or 3. Elements and attributes get the names of QTI 2. */
export function parseQti(text: string, name: string): XmlElement {
  const root = parseXml(text, name);
  const pending = [root];
  for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
    const known = lowerCaseNames.get(element.name);
    if (known !== undefined) {
      element.name = known;
      const { responseidentifier: responseIdentifier = '' } = element.attributes;
      element.attributes = { ...element.attributes, responseIdentifier };
    } else if (element.name.startsWith('qti-')) {
      element.name = camelCase(element.name.slice('qti-'.length));
      element.attributes = Object.fromEntries(
        Object.entries(element.attributes).map(([key, value]) => [camelCase(key), value]),
      );
    }
    pending.push(...element.children);
  }
  return root;
}

function camelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Returns the interactions of an item in the order of the file. */
export function interactionsIn(root: XmlElement): XmlElement[] {
  const inside = root.children.flatMap(interactionsIn);
  return root.name.endsWith('Interaction') ? [root, ...inside] : inside;
}

/**
 * Reads an item of QTI 2 or 3.
 *
 * @param root of a file that {@link parseQti} has parsed
 * @param path of the file
 */
export function readItem(root: XmlElement, path: string, media: ConvertedMedia): QtiItem {
  const responses = new Map(
    childrenOf(root, 'responseDeclaration').map((declaration) => {
      const response = readResponse(declaration);
      return [response.id, response] as const;
    }),
  );
  const body = new ItemBody(path, media);
  const processing = childOf(root, 'responseProcessing');
  const constants =
    processing === undefined ? new Map<string, string[]>() : comparedTexts(processing, responses);
  const read = new Map<XmlElement, Interaction>();
  const interaction = (element: XmlElement): Interaction | null => {
    const found = readInteraction(element, { path, body, responses });
    if (found === null) return null;
    found.candidates.push(...(constants.get(found.response) ?? []));
    read.set(element, found);
    return found;
  };
  const content = childOf(root, 'itemBody');
  const isInline = ({ element }: Interaction) =>
    /^(?:textEntry|inlineChoice|endAttempt)Interaction$/.test(element);
  const parts = content === undefined ? [] : body.parts(content, { interaction, isInline });
  for (const feedback of childrenOf(root, 'modalFeedback')) body.addFeedback(feedback);
  if (childOf(root, 'catalogInfo') !== undefined) {
    body.losses.add('texts for other ways of access (catalog) are left out');
  }
  const unread = interactionsIn(root).filter((element) => !read.has(element));
  const rules = rulesOf(root, responses);
  const outcomesOf = cached((answers) => {
    if (rules === null) return null;
    try {
      return processResponses(rules, answers);
    } catch (error) {
      if (error instanceof Unsupported) return null;
      throw error;
    }
  });
  return {
    title: root.attributes.title?.trim() ?? '',
    ...{ kind: null, parts },
    hidden: unread.flatMap((element) => interaction(element) ?? []),
    score(answers) {
      const score = outcomesOf(answers)?.get('SCORE')?.[0];
      return typeof score === 'number' && Number.isFinite(score) ? score : null;
    },
    feedbacks: body.feedbacks,
    shows({ outcome, identifier, isShown }, answers) {
      const value = outcomesOf(answers)?.get(outcome) ?? [];
      return value.map(String).includes(identifier) === isShown;
    },
    losses: body.losses,
    points: null,
    refusal: refusalOf(root),
  };
}

function refusalOf(root: XmlElement): string | null {
  if (root.attributes.adaptive === 'true') return 'adaptive items have no counterpart';
  if (childOf(root, 'templateProcessing') !== undefined || childOf(root, 'templateDeclaration') !== undefined)
    return 'templates, whose values a program computes, have no counterpart';
  return null;
}

/** Keeps the outcomes of the last answers, which are asked for each feedback. */
function cached(outcomes: (answers: Answers) => Map<string, Value> | null): typeof outcomes {
  let last: { answers: Answers; result: Map<string, Value> | null } | null = null;
  return (answers) => {
    if (last?.answers !== answers) last = { answers, result: outcomes(answers) };
    return last.result;
  };
}

const setScore = (expression: string) =>
  `<setOutcomeValue identifier="SCORE">${expression}</setOutcomeValue>`;
const points = (number: number) => setScore(`<baseValue baseType="float">${number}</baseValue>`);

/** The templates that QTI and Common Cartridge define, by the ends of their names. */
const templates: readonly [RegExp, XmlElement][] = [
  [
    /(?:match_correct|CC2_match(?:_basic)?)$/,
    parseXml(
      `<r><responseCondition><responseIf><match><variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></match>` +
        `${points(1)}</responseIf><responseElse>${points(0)}</responseElse></responseCondition></r>`,
      'match_correct',
    ),
  ],
  [/map_response$/, parseXml(`<r>${setScore('<mapResponse identifier="RESPONSE"/>')}</r>`, 'map_response')],
];

/** Returns the rules of an item; null if its points follow from something else. */
function rulesOf(root: XmlElement, responses: Rules['responses']): Rules | null {
  const processing = childOf(root, 'responseProcessing');
  if (processing === undefined) return null;
  const outcomes = new Map(
    childrenOf(root, 'outcomeDeclaration').map((declaration) => {
      const { identifier = '', baseType = 'string' } = declaration.attributes;
      const values = valuesIn(childOf(declaration, 'defaultValue'));
      const isNumber = baseType === 'float' || baseType === 'integer';
      const value =
        values.length > 0 ? values.map((text) => memberOf(text, baseType)) : isNumber ? [0] : null;
      return [identifier, { baseType, value }] as const;
    }),
  );
  if (processing.children.length > 0) return { responses, outcomes, instructions: processing.children };
  const name = (processing.attributes.template ?? '').replace(/\.xml$/, '');
  const template = templates.find(([pattern]) => pattern.test(name));
  return template === undefined ? null : { responses, outcomes, instructions: template[1].children };
}

/** Returns the texts that the rules compare with each response: one of them may be a right answer. */
function comparedTexts(processing: XmlElement, responses: Rules['responses']): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const walk = (element: XmlElement) => {
    const [variable] = childrenOf(element, 'variable');
    const id = variable?.attributes.identifier ?? '';
    const written = childrenOf(element, 'baseValue').map(({ text }) => text.trim());
    const texts = [...written, ...(responses.get(id)?.correct ?? [])];
    const bounds = element.name === 'equal' ? boundsOf(element, texts) : [];
    if (texts.length > 0) found.set(id, [...(found.get(id) ?? []), ...texts, ...bounds]);
    element.children.forEach(walk);
  };
  walk(processing);
  return found;
}

/** Returns the numbers at the ends of a tolerance. */
function boundsOf({ attributes }: XmlElement, texts: readonly string[]): string[] {
  const [below = 0, above = below] = (attributes.tolerance ?? '0').trim().split(/\s+/).map(Number);
  return texts.flatMap((text) => {
    const right = numberOr(text, Number.NaN);
    const scale = attributes.toleranceMode === 'relative' ? right / 100 : 1;
    return [String(right - below * scale), String(right + above * scale)];
  });
}

/** @throws {SourceFault} for a file that is no item */
export function checkItem(root: XmlElement, path: string): void {
  if (root.name !== 'assessmentItem')
    throw new SourceFault(`${path}: is not an item of QTI, but <${root.name}>`);
}
