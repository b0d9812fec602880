import { childOf, childrenOf } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { Unsupported } from './processing.ts';
import { numberOr } from './values.ts';
import type { Answers } from './values.ts';

/** What the rules of QTI 1.2 make of answers. */
export interface Result {
  score: number;
  /** The ids of feedback. */
  feedbacks: Set<string>;
}

/**
 * Runs the response processing of an item of QTI 1.2.
 *
 * @throws {Unsupported} for a condition that Lectern does not know
 */
export function runConditions(resprocessing: XmlElement | undefined, answers: Answers): Result {
  const outcomes = childrenOf(childOf(resprocessing, 'outcomes'), 'decvar');
  const [first] = outcomes;
  const max = numberOr(first?.attributes.maxvalue, Infinity);
  const result: Result = { score: numberOr(first?.attributes.defaultval, 0), feedbacks: new Set() };
  let isMatched = false;
  for (const condition of childrenOf(resprocessing, 'respcondition')) {
    const variable = childOf(condition, 'conditionvar');
    const isOther = childOf(variable, 'other') !== undefined;
    const holds = isOther ? !isMatched : variable !== undefined && holdsAll(variable, answers);
    if (!holds) continue;
    const changes = childrenOf(condition, 'setvar').filter((one) => isScore(one, first));
    // A condition that only shows feedback decides nothing.
    isMatched ||= changes.length > 0;
    for (const change of changes) result.score = changed(result.score, change, max);
    for (const shown of childrenOf(condition, 'displayfeedback')) {
      result.feedbacks.add(shown.attributes.linkrefid ?? '');
    }
    // The default is to stop, but programs that add points up leave it out, too.
    const adds = changes.some(({ attributes }) => /^add$/i.test(attributes.action ?? ''));
    if (changes.length > 0 && /^no$/i.test(condition.attributes.continue ?? (adds ? 'Yes' : 'No'))) break;
  }
  const min = numberOr(first?.attributes.minvalue, -Infinity);
  return { ...result, score: Math.min(max, Math.max(min, result.score)) };
}

function isScore({ attributes }: XmlElement, outcome: XmlElement | undefined): boolean {
  const name = attributes.varname ?? 'SCORE';
  return name === 'SCORE' || name === outcome?.attributes.varname;
}

function changed(score: number, { attributes, text }: XmlElement, max: number): number {
  const value = /\.max$/i.test(text.trim()) ? max : numberOr(text, 0);
  switch ((attributes.action ?? 'Set').toLowerCase()) {
    case 'add':
      return score + value;
    case 'subtract':
      return score - value;
    case 'multiply':
      return score * value;
    default:
      return value;
  }
}

/** Several texts that one answer could equal are alternatives, as Canvas writes them. */
function holdsAll(parent: XmlElement, answers: Answers): boolean {
  const alternatives = new Map<string, XmlElement[]>();
  const others: XmlElement[] = [];
  for (const child of parent.children) {
    const id = child.attributes.respident ?? '';
    const isPlain = child.name === 'varequal' && child.attributes.index === undefined;
    if (!isPlain || (answers.get(id)?.length ?? 0) > 1) others.push(child);
    else alternatives.set(id, [...(alternatives.get(id) ?? []), child]);
  }
  return (
    others.every((child) => holds(child, answers)) &&
    [...alternatives.values()].every((group) => group.some((child) => holds(child, answers)))
  );
}

function holds(element: XmlElement, answers: Answers): boolean {
  const { name, attributes, children } = element;
  const given = answers.get(attributes.respident ?? '') ?? [];
  const text = element.text.trim();
  const number = Number(given[0]?.trim() || Number.NaN);
  switch (name) {
    case 'and':
      return children.every((child) => holds(child, answers));
    case 'or':
      return children.some((child) => holds(child, answers));
    case 'not':
      return !children.some((child) => holds(child, answers));
    case 'varequal': {
      const index = numberOr(attributes.index, 0);
      const compared = index > 0 ? given.slice(index - 1, index) : given;
      return compared.some((one) => isSameText(one, text, /^yes$/i.test(attributes.case ?? 'No')));
    }
    case 'varsubstring':
      return given.some((one) => one.toLowerCase().includes(text.toLowerCase()));
    case 'varlt':
      return number < Number(text);
    case 'varlte':
      return number <= Number(text);
    case 'vargt':
      return number > Number(text);
    case 'vargte':
      return number >= Number(text);
    case 'unanswered':
      return given.length === 0;
    case 'other':
      return true;
    default:
      throw new Unsupported(name);
  }
}

function isSameText(given: string, right: string, isExact: boolean): boolean {
  if (given === right || (!isExact && given.toLowerCase() === right.toLowerCase())) return true;
  return given.trim() !== '' && right !== '' && Number(given) === Number(right);
}
