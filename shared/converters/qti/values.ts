import { childOf, childrenOf } from '../xml.ts';
import type { XmlElement } from '../xml.ts';

/** A value of QTI: a container of one or more members, or null. */
export type Value = readonly Member[] | null;
export type Member = string | number | boolean;

/** The answers of a learner: the texts by the identifier of the response. Missing ones are null. */
export type Answers = ReadonlyMap<string, readonly string[]>;

/** What an item declares about a response. */
export interface Response {
  id: string;
  isOrdered: boolean;
  isSingle: boolean;
  baseType: string;
  correct: string[];
  mapping: Mapping | null;
}

interface Mapping {
  entries: { key: string; value: number; caseSensitive: boolean }[];
  lower: number;
  upper: number;
  otherwise: number;
}

export function readResponse(declaration: XmlElement): Response {
  const { identifier = '', cardinality = 'single', baseType = 'string' } = declaration.attributes;
  const mapping = childOf(declaration, 'mapping');
  return {
    id: identifier,
    isOrdered: cardinality === 'ordered',
    isSingle: cardinality === 'single',
    baseType,
    correct: valuesIn(childOf(declaration, 'correctResponse')),
    mapping: mapping === undefined ? null : readMapping(mapping),
  };
}

function readMapping(mapping: XmlElement): Mapping {
  const { lowerBound, upperBound, defaultValue } = mapping.attributes;
  return {
    entries: childrenOf(mapping, 'mapEntry').map(({ attributes }) => ({
      key: attributes.mapKey ?? '',
      value: numberOr(attributes.mappedValue, 0),
      caseSensitive: attributes.caseSensitive !== 'false',
    })),
    lower: numberOr(lowerBound, -Infinity),
    upper: numberOr(upperBound, Infinity),
    otherwise: numberOr(defaultValue, 0),
  };
}

export function numberOr(text: string | undefined, otherwise: number): number {
  const number = Number(text?.trim() || Number.NaN);
  return Number.isFinite(number) ? number : otherwise;
}

export function valuesIn(element: XmlElement | undefined): string[] {
  return childrenOf(element, 'value').map(({ text }) => text.trim());
}

/** Returns a text as a member of its type. */
export function memberOf(text: string, baseType: string): Member {
  if (/^(?:float|integer|duration)$/.test(baseType)) return Number(text.trim() || Number.NaN);
  if (baseType === 'boolean') return text.trim() === 'true' || text.trim() === '1';
  if (baseType === 'pair') return text.trim().split(/\s+/).toSorted().join(' ');
  return baseType === 'directedPair' ? text.trim().split(/\s+/).join(' ') : text;
}

/** Returns the points of a response by its mapping. */
export function mapResponse({ mapping, baseType }: Response, given: Value): number {
  if (mapping === null) return 0;
  const { entries, lower, upper, otherwise } = mapping;
  const pointsOf = (member: Member): number => {
    const entry = entries.find(({ key, caseSensitive }) => {
      const mapped = memberOf(key, baseType);
      return mapped === member || (!caseSensitive && lowerCase(mapped) === lowerCase(member));
    });
    return entry?.value ?? otherwise;
  };
  // Each member counts once.
  const members = [...new Set(given)];
  const sum = members.reduce<number>((points, member) => points + pointsOf(member), 0);
  return Math.min(upper, Math.max(lower, sum));
}

function lowerCase(member: Member): string {
  return String(member).toLowerCase();
}
