import { deflateSync, inflateSync } from 'fflate';
import { widgetKey } from '../progress/outline.ts';
import type { AnswerForm } from './answer-forms.ts';
import { BitReader, BitWriter } from './bits.ts';
import type { LessonMap, Question } from './lesson-map.ts';

/*
 * A learner's state as text for `suspend_data`: base64url of bits by position, followed by JSON for what has no fixed
 * width. SCORM 1.2 guarantees only 4,096 characters, so a longer state loses parts, in this order: texts that the
 * learner wrote (the longest first), variables, other answers (the longest first), the numbers of tries. The position,
 * the seen steps and all points stay.
 */

/** The part of the player's state that is kept: see LessonState in player/lesson/state.ts. */
export interface SavedState {
  sectionIndex: number;
  stepIndex: number;
  stepId: string;
  items: SavedItem[];
  variableState: Record<string, unknown>;
  progressData: {
    visited: string[];
    completed: boolean;
    atEnd: boolean;
    tries: { stepId: string; widgetId: string; tries: number }[];
  };
}

export interface SavedItem {
  stepId: string;
  widgetId: string;
  /** Null if the answer was lost; its points are not. */
  answer: unknown;
  /** Undefined where the player calculates the points from the answer. */
  score?: number | null;
  maxScore?: number | null;
}

/** The result that was reported to the platform. It stays if the learner starts again. */
export interface Reported {
  completed: boolean;
  passed: boolean;
}

/** The parts that a state can lose, in this order. */
export const losses = ['texts', 'variables', 'answers', 'tries'] as const;

export type Loss = (typeof losses)[number];

export interface EncodedState {
  text: string;
  /** In the order in which they were lost. */
  losses: Loss[];
}

/** The first character: the format. */
const plain = '1';
const deflated = '2';
/** 4 bits hold the number of tries minus one. */
const maxEncodedTries = 16;
const modes = { choices: 0, json: 1, lost: 2 };
const points = { none: 0, zero: 1, full: 2, other: 3 };

/** The number of bits before the first step and question, without the position of the step. */
export const headerBits = 32 + 4;

/**
 * Returns the state as text, with the fewest losses that keep it within `maxCharacters`. If all losses are not enough,
 * the text is longer.
 */
export function encodeState(
  map: LessonMap,
  state: SavedState,
  reported: Reported,
  maxCharacters: number,
): EncodedState {
  const parts = collectParts(map, state);
  const order = lossOrder(parts);
  const encode = (lost: number) => pack(map, state, reported, parts, order.slice(0, lost));
  let text = encode(0);
  if (text.length <= maxCharacters) return { text, losses: [] };
  // Finds the smallest number of losses that makes it fit.
  let [tooFew, enough] = [0, order.length];
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (encode(middle).length <= maxCharacters) enough = middle;
    else tooFew = middle;
  }
  text = encode(enough);
  return { text, losses: [...new Set(order.slice(0, enough).map(({ loss }) => loss))] };
}

interface Part extends SavedItem {
  question: Question;
  tries: number;
  json: string;
}

interface LostPart {
  loss: Loss;
  /** The position of the question; null for the variables and for all tries. */
  position: number | null;
}

function collectParts(map: LessonMap, state: SavedState): Map<number, Part> {
  const tries = new Map(
    state.progressData.tries.map((entry) => [widgetKey(entry.stepId, entry.widgetId), entry.tries]),
  );
  const parts = new Map<number, Part>();
  for (const item of state.items) {
    const key = widgetKey(item.stepId, item.widgetId);
    const position = map.positions.get(key);
    const question = position === undefined ? undefined : map.questions[position];
    if (position === undefined || question === undefined) continue;
    parts.set(position, {
      ...item,
      question,
      tries: tries.get(key) ?? 1,
      json: JSON.stringify(item.answer),
    });
  }
  return parts;
}

function lossOrder(parts: ReadonlyMap<number, Part>): LostPart[] {
  const byLength = [...parts].sort(([, a], [, b]) => b.json.length - a.json.length);
  const answers = (isFreeText: boolean, loss: Loss): LostPart[] =>
    byLength
      .filter(([, { question, answer }]) => question.form.isFreeText === isFreeText && answer !== null)
      .map(([position]) => ({ loss, position }));
  return [
    ...answers(true, 'texts'),
    { loss: 'variables', position: null },
    ...answers(false, 'answers'),
    { loss: 'tries', position: null },
  ];
}

function pack(
  map: LessonMap,
  state: SavedState,
  reported: Reported,
  parts: ReadonlyMap<number, Part>,
  lostParts: readonly LostPart[],
): string {
  const { visited, completed, atEnd } = state.progressData;
  const lost = new Set(lostParts.map(({ position }) => position));
  const keepsTries = !lostParts.some(({ loss }) => loss === 'tries');
  const keepsVariables = !lostParts.some(({ loss }) => loss === 'variables');
  const bits = new BitWriter();
  bits.write(map.fingerprint, 32);
  for (const flag of [completed, atEnd, reported.completed, reported.passed]) bits.write(flag ? 1 : 0, 1);
  bits.writeNumber(
    Math.max(
      0,
      map.steps.findIndex(({ id }) => id === state.stepId),
    ),
  );
  const seen = new Set(visited);
  for (const { id } of map.steps) bits.write(seen.has(id) ? 1 : 0, 1);
  const texts: unknown[] = [];
  for (const [position, question] of map.questions.entries()) {
    const part = parts.get(position);
    bits.write(part === undefined ? 0 : 1, 1);
    if (part !== undefined)
      packAnswer(bits, texts, question, part, { isLost: lost.has(position), keepsTries });
  }
  const changed = Object.entries(state.variableState).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(map.variables[name]),
  );
  const variables = keepsVariables && changed.length > 0 ? Object.fromEntries(changed) : 0;
  const tail = variables === 0 && texts.length === 0 ? '' : JSON.stringify([variables, ...texts]);
  return toText(bits.bytes(), new TextEncoder().encode(tail));
}

function packAnswer(
  bits: BitWriter,
  texts: unknown[],
  { form }: Question,
  part: Part,
  { isLost, keepsTries }: { isLost: boolean; keepsTries: boolean },
): void {
  const { answer, tries, score = null } = part;
  const picked = form.choices && pickedBits(form.choices, answer);
  const mode = isLost || answer === null ? modes.lost : picked ? modes.choices : modes.json;
  bits.write(mode, 2);
  bits.write(keepsTries && tries > 1 ? 1 : 0, 1);
  if (keepsTries && tries > 1) bits.write(Math.min(tries, maxEncodedTries) - 1, 4);
  if (mode === modes.choices) {
    for (const bit of picked ?? []) bits.write(bit ? 1 : 0, 1);
    return;
  }
  if (mode === modes.json) texts.push(answer);
  if (mode === modes.json && hasKnownPoints(form)) return;
  if (score === null) bits.write(points.none, 2);
  else if (score === 0) bits.write(points.zero, 2);
  else if (score === form.points) bits.write(points.full, 2);
  else {
    bits.write(points.other, 2);
    bits.writeDouble(score);
  }
}

/** Returns whether the player calculates the points from the answer; custom widgets have claimed them. */
function hasKnownPoints({ type }: AnswerForm): boolean {
  return type !== 'other';
}

/** Returns a bit for each choice; null for an answer that is not a set of some of them. */
function pickedBits(choices: readonly string[], answer: unknown): boolean[] | null {
  if (!Array.isArray(answer)) return null;
  const picked = choices.map((id) => answer.includes(id));
  return picked.filter(Boolean).length === answer.length ? picked : null;
}

/**
 * Reads the text of {@link encodeState}.
 *
 * @returns null for a text of another version of the lesson, and for anything else
 */
export function decodeState(map: LessonMap, text: string): { state: SavedState; reported: Reported } | null {
  const bytes = fromText(text);
  if (bytes === null) return null;
  const bits = new BitReader(bytes);
  if (bits.read(32) !== map.fingerprint) return null;
  const flag = () => bits.read(1) === 1;
  const [completed, atEnd, wasCompleted, wasPassed] = [flag(), flag(), flag(), flag()];
  const step = map.steps[bits.readNumber()] ?? map.steps[0];
  const visited = map.steps.filter(() => flag()).map(({ id }) => id);
  const read = map.questions.flatMap((question) =>
    flag() ? [{ question, ...readAnswer(bits, question) }] : [],
  );
  const [variables, ...texts] = readTail(bits.rest());
  const items = read.map(({ question: { stepId, widgetId }, answer, score, maxScore }): SavedItem => {
    const item = { stepId, widgetId, answer: answer === inTail ? (texts.shift() ?? null) : answer };
    return score === undefined ? item : { ...item, score, maxScore };
  });
  return {
    state: {
      sectionIndex: step?.sectionIndex ?? 0,
      stepIndex: step?.stepIndex ?? 0,
      stepId: step?.id ?? '',
      items,
      variableState: { ...map.variables, ...(typeof variables === 'object' ? variables : {}) },
      progressData: {
        visited,
        completed,
        atEnd,
        tries: read
          .filter(({ tries }) => tries > 1)
          .map(({ question: { stepId, widgetId }, tries }) => ({ stepId, widgetId, tries })),
      },
    },
    reported: { completed: wasCompleted, passed: wasPassed },
  };
}

/** Stands for an answer whose JSON comes after the bits. */
const inTail = Symbol('in the tail');

function readAnswer(bits: BitReader, { form }: Question) {
  const mode = bits.read(2);
  const tries = bits.read(1) === 1 ? bits.read(4) + 1 : 1;
  if (mode === modes.choices)
    return { tries, answer: (form.choices ?? []).filter(() => bits.read(1) === 1) as unknown };
  const answer: unknown = mode === modes.json ? inTail : null;
  if (mode === modes.json && hasKnownPoints(form)) return { tries, answer };
  switch (bits.read(2)) {
    case points.zero:
      return { tries, answer, score: 0, maxScore: form.points };
    case points.full:
      return { tries, answer, score: form.points, maxScore: form.points };
    case points.other:
      return { tries, answer, score: bits.readDouble(), maxScore: form.points };
    default:
      return { tries, answer, score: null, maxScore: null };
  }
}

function readTail(bytes: Uint8Array): unknown[] {
  if (bytes.length === 0) return [];
  try {
    const tail: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return Array.isArray(tail) ? (tail as unknown[]) : [];
  } catch {
    return [];
  }
}

function toText(bits: Uint8Array, tail: Uint8Array): string {
  const bytes = new Uint8Array(bits.length + tail.length);
  bytes.set(bits);
  bytes.set(tail, bits.length);
  const small = deflateSync(bytes, { level: 9 });
  return small.length < bytes.length ? deflated + base64Url(small) : plain + base64Url(bytes);
}

function fromText(text: string): Uint8Array | null {
  // Some platforms add white space.
  const [, format, data] = /^([12])([\w-]+)$/.exec(text.trim()) ?? [];
  if (data === undefined) return null;
  try {
    const bytes = Uint8Array.from(atob(data.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
      character.charCodeAt(0),
    );
    return format === deflated ? inflateSync(bytes) : bytes;
  } catch {
    return null;
  }
}

function base64Url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
