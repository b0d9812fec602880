import type { XmlElement } from '../xml.ts';
import { mapResponse, memberOf, numberOr } from './values.ts';
import type { Answers, Member, Response, Value } from './values.ts';

/** Reports response processing that Lectern does not understand. */
export class Unsupported extends Error {}

/** Ends response processing early. */
class Exit extends Error {}

/** The rules of an item: declarations, and instructions that set outcomes. */
export interface Rules {
  responses: ReadonlyMap<string, Response>;
  outcomes: ReadonlyMap<string, { baseType: string; value: Value }>;
  /** The children of responseProcessing. */
  instructions: readonly XmlElement[];
}

/**
 * Runs the response processing of QTI 2 and 3, which is a tree without loops.
 *
 * @returns the outcomes, by identifier
 * @throws {Unsupported} for an instruction or expression that depends on more than the answers
 */
export function processResponses(rules: Rules, answers: Answers): Map<string, Value> {
  const outcomes = new Map([...rules.outcomes].map(([id, { value }]) => [id, value]));
  const run = new Run(rules, answers, outcomes);
  try {
    run.instructions(rules.instructions);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
  }
  return outcomes;
}

class Run {
  readonly #rules: Rules;
  readonly #answers: Answers;
  readonly #outcomes: Map<string, Value>;

  constructor(rules: Rules, answers: Answers, outcomes: Map<string, Value>) {
    this.#rules = rules;
    this.#answers = answers;
    this.#outcomes = outcomes;
  }

  instructions(elements: readonly XmlElement[]): void {
    for (const element of elements) this.#instruction(element);
  }

  #instruction(element: XmlElement): void {
    switch (element.name) {
      case 'responseCondition': {
        const branch = element.children.find(
          ({ name, children: [condition] }) =>
            name === 'responseElse' || (condition !== undefined && isTrue(this.value(condition))),
        );
        if (branch !== undefined) {
          this.instructions(branch.name === 'responseElse' ? branch.children : branch.children.slice(1));
        }
        return;
      }
      case 'setOutcomeValue': {
        const [expression] = element.children;
        this.#outcomes.set(
          element.attributes.identifier ?? '',
          expression === undefined ? null : this.value(expression),
        );
        return;
      }
      // Blackboard mixes elements of QTI 1.2 into its items.
      case 'respcondition': {
        const [conditions, ...changes] = element.children;
        if (conditions?.children.every((condition) => isTrue(this.value(condition))) !== true) return;
        for (const { name, attributes, text } of changes) {
          if (name !== 'setvar') continue;
          const id = attributes.varname ?? 'SCORE';
          const before = attributes.action === 'Add' ? Number(this.#outcomes.get(id)?.[0] ?? 0) : 0;
          this.#outcomes.set(id, [before + numberOr(text, 0)]);
        }
        return;
      }
      case 'responseProcessingFragment':
        return this.instructions(element.children);
      case 'exitResponse':
        throw new Exit();
      default:
        throw new Unsupported(element.name);
    }
  }

  value(element: XmlElement): Value {
    const { name, attributes } = element;
    switch (name) {
      case 'baseValue':
        return [memberOf(element.text.trim(), attributes.baseType ?? 'string')];
      case 'null':
        return null;
      case 'variable':
        return this.#variable(attributes.identifier ?? '');
      case 'correct': {
        const { correct, baseType } = this.#response(attributes.identifier);
        return correct.length === 0 ? null : correct.map((text) => memberOf(text, baseType));
      }
      case 'default':
        return this.#rules.outcomes.get(attributes.identifier ?? '')?.value ?? null;
      case 'mapResponse': {
        const response = this.#response(attributes.identifier);
        return [mapResponse(response, this.#variable(response.id))];
      }
      case 'match':
        return this.#match(element);
      default: {
        const operator = operators[name];
        if (operator === undefined) throw new Unsupported(name);
        return operator(
          element.children.map((child) => this.value(child)),
          attributes,
        );
      }
    }
  }

  #response(id = ''): Response {
    const response = this.#rules.responses.get(id);
    if (response === undefined) throw new Unsupported(`the response ${id}`);
    return response;
  }

  #variable(id: string): Value {
    const response = this.#rules.responses.get(id);
    if (response === undefined) return this.#outcomes.get(id) ?? null;
    const given = this.#answers.get(id);
    if (given === undefined || given.length === 0) return null;
    return given.map((text) => memberOf(text, response.baseType));
  }

  #match({ children: [first, second] }: XmlElement): Value {
    if (first === undefined || second === undefined) throw new Unsupported('match');
    const [a, b] = [this.value(first), this.value(second)];
    if (a === null || b === null) return [a === b];
    const compared = this.#rules.responses.get(second.attributes.identifier ?? '');
    // Several right values of a single response are alternatives.
    if (second.name === 'correct' && compared?.isSingle === true) return [b.includes(a[0] ?? '')];
    const isOrdered = [first, second].some(
      ({ name, attributes: { identifier = '' } }) =>
        name === 'ordered' || this.#rules.responses.get(identifier)?.isOrdered === true,
    );
    return [isOrdered ? isSameList(a, b) : isSameList(a.map(String).toSorted(), b.map(String).toSorted())];
  }
}

type Operator = (values: Value[], attributes: Readonly<Record<string, string>>) => Value;

const operators: Record<string, Operator> = {
  and: (values) => [values.every(isTrue)],
  or: (values) => [values.some(isTrue)],
  not: ([value]) => [!isTrue(value ?? null)],
  anyN: (values, { min, max }) => {
    const count = values.filter(isTrue).length;
    return [count >= numberOr(min, 0) && count <= numberOr(max, Infinity)];
  },
  isNull: ([value]) => [value === null || value === undefined || value.length === 0 || value[0] === ''],
  multiple: (values) => joined(values),
  ordered: (values) => joined(values),
  containerSize: ([value]) => [value?.length ?? 0],
  member: ([value, container]) => [single(value) !== null && (container ?? []).includes(value?.[0] ?? '')],
  contains: ([container, part]) => [(part ?? []).every((member) => (container ?? []).includes(member))],
  index: ([value], { n }) => {
    const member = value?.[numberOr(n, 1) - 1];
    return member === undefined ? null : [member];
  },
  delete: ([value, container]) => (container ?? []).filter((member) => member !== value?.[0]),
  stringMatch: ([a, b], { caseSensitive }) => {
    const [first, second] = [textOf(a), textOf(b)];
    if (first === null || second === null) return null;
    return [caseSensitive === 'false' ? first.toLowerCase() === second.toLowerCase() : first === second];
  },
  substring: ([part, whole], { caseSensitive }) => {
    const [first, second] = [textOf(part), textOf(whole)];
    if (first === null || second === null) return null;
    return [
      caseSensitive === 'false' ? second.toLowerCase().includes(first.toLowerCase()) : second.includes(first),
    ];
  },
  equal: ([a, b], { toleranceMode = 'exact', tolerance = '0', includeLowerBound, includeUpperBound }) => {
    const [given, right] = [single(a), single(b)];
    if (given === null || right === null) return null;
    if (toleranceMode === 'exact') return [given === right];
    const [below = 0, above = below] = tolerance.trim().split(/\s+/).map(Number);
    const isRelative = toleranceMode === 'relative';
    const low = isRelative ? right * (1 - below / 100) : right - below;
    const high = isRelative ? right * (1 + above / 100) : right + above;
    return [
      (includeLowerBound === 'false' ? given > low : given >= low) &&
        (includeUpperBound === 'false' ? given < high : given <= high),
    ];
  },
  equalRounded: ([a, b], { roundingMode = 'significantFigures', figures }) => {
    const [given, right] = [single(a), single(b)];
    if (given === null || right === null) return null;
    const places = Math.min(15, Math.max(0, numberOr(figures, 3)));
    const rounded = (number: number) =>
      roundingMode === 'decimalPlaces' ? number.toFixed(places) : number.toPrecision(Math.max(1, places));
    return [rounded(given) === rounded(right)];
  },
  gt: compare((a, b) => a > b),
  gte: compare((a, b) => a >= b),
  lt: compare((a, b) => a < b),
  lte: compare((a, b) => a <= b),
  sum: arithmetic((numbers) => numbers.reduce((sum, number) => sum + number, 0)),
  product: arithmetic((numbers) => numbers.reduce((product, number) => product * number, 1)),
  subtract: arithmetic(([a = 0, b = 0]) => a - b),
  divide: arithmetic(([a = 0, b = 0]) => a / b),
  integerDivide: arithmetic(([a = 0, b = 0]) => Math.floor(a / b)),
  integerModulus: arithmetic(([a = 0, b = 0]) => a - b * Math.floor(a / b)),
  power: arithmetic(([a = 0, b = 0]) => a ** b),
  max: arithmetic((numbers) => Math.max(...numbers)),
  min: arithmetic((numbers) => Math.min(...numbers)),
  round: arithmetic(([a = 0]) => Math.round(a)),
  truncate: arithmetic(([a = 0]) => Math.trunc(a)),
  integerToFloat: arithmetic(([a = 0]) => a),
};

function isTrue(value: Value): boolean {
  return value?.[0] === true;
}

function joined(values: readonly Value[]): Value {
  const members = values.flatMap((value) => value ?? []);
  return members.length === 0 ? null : members;
}

function isSameList(a: readonly Member[], b: readonly Member[]): boolean {
  return a.length === b.length && a.every((member, index) => member === b[index]);
}

/** Returns the only number of a value; null for any other value. */
function single(value: Value | undefined): number | null {
  const [member] = value ?? [];
  if (member === undefined) return null;
  return typeof member === 'number' ? member : Number(member);
}

function textOf(value: Value | undefined): string | null {
  const [member] = value ?? [];
  return member === undefined ? null : String(member);
}

function compare(holds: (a: number, b: number) => boolean): Operator {
  return ([a, b]) => {
    const [first, second] = [single(a), single(b)];
    return first === null || second === null ? null : [holds(first, second)];
  };
}

function arithmetic(result: (numbers: number[]) => number): Operator {
  return (values) => {
    const numbers = values.flatMap((value) => (value ?? [Number.NaN]).map(Number));
    const value = result(numbers);
    return Number.isFinite(value) ? [value] : null;
  };
}
